import { ApiError } from '../errors.ts';
import type { PeopleDeps } from './deps.ts';

/** Where sign-up is closed, invitations are neither made nor accepted: operators make every account. */
export function refuseIfClosed({ config }: Pick<PeopleDeps, 'config'>): void {
  if (config.signUp.mode === 'closed') throw new ApiError('sign_up_closed');
}

export function refuseUnlessOpen({ config }: Pick<PeopleDeps, 'config'>): void {
  if (config.signUp.mode !== 'open') throw new ApiError('sign_up_closed');
}

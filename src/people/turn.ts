import { networkOf } from '../addresses.ts';
import { ApiError } from '../errors.ts';
import {
  FOLLOWED_LINKS_PER_ADDRESS_RPM,
  INVITATIONS_PER_ACCOUNT_RPM,
  LINK_REQUESTS_PER_ADDRESS_RPM,
  LINK_REQUESTS_PER_EMAIL_RPM,
  PASSWORD_CHECKS_AT_ONCE_MAX,
  SIGN_INS_PER_ADDRESS_RPM,
  SIGN_INS_PER_EMAIL_RPM,
  SIGN_INS_RPM,
} from '../limits.ts';
import type { Throttle } from '../throttle/index.ts';
import type { PeopleDeps } from './deps.ts';
import { secretDigest } from './sessions.ts';

/** What needs no session, each with buckets of its own. Undefined: a link names the email. */
const ALLOWANCES = {
  'sign-in': { address: SIGN_INS_PER_ADDRESS_RPM, email: SIGN_INS_PER_EMAIL_RPM },
  'link request': { address: LINK_REQUESTS_PER_ADDRESS_RPM, email: LINK_REQUESTS_PER_EMAIL_RPM },
  link: { address: FOLLOWED_LINKS_PER_ADDRESS_RPM, email: undefined },
} as const;

/**
 * Token buckets in front of all work, per address and per email. A request that is refused here costs a look into a map. The
 * address comes first: it cannot be chosen as freely, so that guesses from one make few buckets and use up few of others.
 */
export async function takeTurn(
  { throttle }: Pick<PeopleDeps, 'throttle'>,
  kind: keyof typeof ALLOWANCES,
  { address, email }: { readonly address: string; readonly email?: string },
): Promise<void> {
  const allowed = ALLOWANCES[kind];
  await take(throttle, `${kind} address:${networkOf(address)}`, allowed.address);
  if (email === undefined || allowed.email === undefined) return;
  // A digest is as short for every email, and what was typed into the wrong field is not kept.
  const digest = secretDigest(email.toLowerCase()).toString('base64url', 0, 16);
  await take(throttle, `${kind} email:${digest}`, allowed.email);
}

/** Begins and ends of sign-ins by the identity provider, two for each. */
export async function takeOpenIdTurn({ throttle }: Pick<PeopleDeps, 'throttle'>, address: string): Promise<void> {
  await take(throttle, `provider address:${networkOf(address)}`, 2 * SIGN_INS_PER_ADDRESS_RPM);
  await take(throttle, 'provider', 2 * SIGN_INS_RPM);
}

export async function takeInvitation({ throttle }: Pick<PeopleDeps, 'throttle'>, accountId: string): Promise<void> {
  await take(throttle, `invitations account:${accountId}`, INVITATIONS_PER_ACCOUNT_RPM);
}

/** Bounds derivations of this process alone, in a minute and at once, since each takes its memory and a thread. */
export async function withDerivation<Result>(
  { processThrottle }: Pick<PeopleDeps, 'processThrottle'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = await take(processThrottle, 'derivations', SIGN_INS_RPM, PASSWORD_CHECKS_AT_ONCE_MAX);
  try {
    return await work();
  } finally {
    release();
  }
}

async function take(throttle: Throttle, subject: string, rpm: number, concurrency?: number): Promise<() => void> {
  const slot = await throttle.take(subject, { rpm, concurrency });
  if (slot.state === 'acquired') return slot.release;
  if (slot.code === 'limits_unavailable') throw new ApiError(slot.code);
  throw new ApiError('rate_limited', { headers: { 'retry-after': '60' } });
}

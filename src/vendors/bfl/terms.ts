import type { Dialects } from '../kit/dialects.ts';

/** The vendor's own servers name each other's addresses; any other server only its own. */
export const DIALECTS = { bfl: ['bfl.ai'] } as const satisfies Dialects;

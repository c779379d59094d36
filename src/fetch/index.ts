/**
 * The guarded fetcher: the only way in which this program fetches a URL that came from a caller or from a vendor's
 * answer. Hides which addresses are refused and in what disguises they come, that a name cannot change its address
 * between the check and the connection, redirects, time limits, and bodies larger than they say.
 */
export { BodyTooLarge } from './answer.ts';
export { GuardedFetch } from './guarded-fetch.ts';
export type { Resolver } from './resolve.ts';

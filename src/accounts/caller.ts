import type { Scope } from '../scopes.ts';
import type { Allowance } from '../throttle/index.ts';

/** An account with the credential that it was proved by: an API key, an app's token, or a session of the console. */
export interface Caller {
  readonly accountId: string;
  /** What spending is counted and limited by: the id of a key, or of the grant behind a token; undefined for the console. */
  readonly keyId: string | undefined;
  /**
   * What idempotency keys belong to: the key's lineage, the grant's id, or `console:` and the person's. It outlives the
   * secret that was shown: secrets are renewed, this is not.
   */
  readonly credential: string;
  /** What a token may be used for. Undefined is everything: a key, and the console. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  /** The one address that the credential opens, where it is bound to one. */
  readonly resource?: string | undefined;
  /** Routing groups, sorted. */
  readonly groups: readonly string[];
  /** Whose bucket and slots a request takes. */
  readonly limitSubject: string;
  readonly allowance: Allowance;
  /** Whether the key, or the grant, has a credit limit. */
  readonly hasKeyLimit: boolean;
}

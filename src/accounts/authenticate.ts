import { hash } from 'node:crypto';
import type { Config } from '../config.ts';
import { DatabaseUnavailable, Gathering } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { CALLER_CACHE_ENTRIES_MAX } from '../limits.ts';
import type { Scope } from '../scopes.ts';
import type { Allowance } from '../throttle/index.ts';
import { isApiKeyShape } from './api-key.ts';
import type { AccountParts } from './parts.ts';
import { findKeyHolders, type KeyHolder, saveLastUsed } from './store.ts';

const LOOK_UPS_PER_ROUND_MAX = 1_000;

/** An account with the credential that it was proved by: an API key, an app's token, or a session of the console. */
export interface Caller {
  readonly accountId: string;
  /** What spending is counted and limited by: the id of a key, or of the grant behind a token; undefined for the console. */
  readonly keyId: string | undefined;
  /**
   * What idempotency keys belong to: the key's id, the grant's, or `console:` and the person's. It outlives the secret that
   * was shown: secrets are renewed, this is not.
   */
  readonly credential: string;
  /** What a token may be used for. Undefined is everything: a key, and the console. */
  readonly scopes: ReadonlySet<Scope> | undefined;
  /** Routing groups, sorted. */
  readonly groups: readonly string[];
  /** Whose bucket and slots a request takes. */
  readonly limitSubject: string;
  readonly allowance: Allowance;
  /** Whether the key, or the grant, has a credit limit. */
  readonly hasKeyLimit: boolean;
}

interface AuthenticatorParts extends AccountParts {
  readonly config: Pick<Config, 'defaultRpm' | 'defaultConcurrency'>;
}

/** Finds the caller of a key. Remembers callers only while the bus guarantees that a change would be heard. */
export class Authenticator {
  readonly #parts: AuthenticatorParts;
  readonly #known = new Map<string, { holder: KeyHolder; caller: Caller }>();
  /**
   * Keys are looked for together, each at once or in the next round. When callers are forgotten, all of them come, and one
   * by one they would wait for connections until they are refused.
   */
  readonly #lookUps: Gathering<string, KeyHolder | undefined>;
  readonly #lastUsedMs = new Map<string, number>();
  // Counts everything heard, so that a row read before a change is not remembered after it.
  #changes = 0;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
    this.#lookUps = new Gathering(async (digests: readonly string[]) => {
      const holders = await findKeyHolders(parts.db, digests);
      return digests.map((digest) => holders.get(digest));
    }, LOOK_UPS_PER_ROUND_MAX);
    parts.bus.on('key', (id) => this.#forget((holder) => holder.keyId === id));
    parts.bus.on('account', (id) => this.#forget((holder) => holder.accountId === id));
    parts.bus.onLost(() => this.#forget(() => true));
  }

  /** Throws the ApiError that says why not. */
  async authenticate(credential: string): Promise<Caller> {
    const digest = hash('sha256', credential, 'base64');
    const { bus, clock } = this.#parts;
    const known = (bus.fresh ? this.#known.get(digest) : undefined) ?? (await this.#lookUp(credential, digest));
    const nowMs = clock.nowMs();
    refuseUnusable(known.holder, nowMs);
    this.#lastUsedMs.set(known.holder.keyId, nowMs);
    return known.caller;
  }

  async #lookUp(credential: string, digest: string): Promise<{ holder: KeyHolder; caller: Caller }> {
    // What cannot be a key is not looked for.
    if (!isApiKeyShape(credential)) throw new ApiError('invalid_api_key');
    const changesBefore = this.#changes;
    const holder = await this.#findHolder(digest);
    if (holder === undefined) throw new ApiError('invalid_api_key');
    const found = { holder, caller: callerOf(holder, this.#parts.config) };
    if (this.#changes === changesBefore) {
      if (this.#known.size >= CALLER_CACHE_ENTRIES_MAX) this.#known.clear();
      this.#known.set(digest, found);
    }
    return found;
  }

  async #findHolder(digest: string): Promise<KeyHolder | undefined> {
    try {
      return await this.#lookUps.add(digest);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw new ApiError('identity_unavailable', { cause: error });
      throw error;
    }
  }

  #forget(matches: (holder: KeyHolder) => boolean): void {
    this.#changes++;
    for (const [digest, { holder }] of this.#known) if (matches(holder)) this.#known.delete(digest);
  }

  /** Writes when each key was last used. Called by the clock now and then, and at the end. */
  async saveLastUsed(): Promise<void> {
    if (this.#lastUsedMs.size === 0) return;
    const used = [...this.#lastUsedMs];
    this.#lastUsedMs.clear();
    try {
      await saveLastUsed(
        this.#parts.db,
        used.map(([id]) => id),
        used.map(([, ms]) => new Date(ms)),
      );
    } catch (error) {
      for (const [id, ms] of used) if (!this.#lastUsedMs.has(id)) this.#lastUsedMs.set(id, ms);
      throw error;
    }
  }
}

function refuseUnusable(holder: KeyHolder, nowMs: number): void {
  if (holder.disabled) throw new ApiError('key_disabled');
  if (holder.expiresAt !== null && holder.expiresAt.getTime() <= nowMs) throw new ApiError('key_expired');
  if (holder.accountStatus === 'suspended') throw new ApiError('account_disabled');
}

function callerOf(holder: KeyHolder, config: AuthenticatorParts['config']): Caller {
  return {
    accountId: holder.accountId,
    keyId: holder.keyId,
    credential: holder.keyId,
    scopes: undefined,
    groups: reach(holder.keyGroups, holder.accountGroups),
    limitSubject: `key:${holder.keyId}`,
    allowance: {
      rpm: holder.rpm ?? config.defaultRpm,
      concurrency: holder.concurrency ?? config.defaultConcurrency,
    },
    hasKeyLimit: holder.hasKeyLimit,
  };
}

/** A key may narrow its account's groups and never widen them. */
function reach(keyGroups: readonly string[] | null, accountGroups: readonly string[]): readonly string[] {
  const groups = keyGroups === null ? accountGroups : keyGroups.filter((group) => accountGroups.includes(group));
  return [...groups].sort();
}

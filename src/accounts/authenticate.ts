import { hash } from 'node:crypto';
import type { Config } from '../config.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import { SCOPES } from '../scopes.ts';
import { isSecretText } from '../secret-text.ts';
import { isApiKeyShape } from './api-key.ts';
import type { Caller } from './caller.ts';
import type { AccountDeps } from './deps.ts';
import { Directory } from './directory.ts';
import { findKeyHolders, type KeyHolder, saveLastUsed } from './store.ts';
import { findTokenHolders, type TokenHolder } from './token-store.ts';

const ACCESS_TOKEN_PREFIX = 'oat_';

type Limits = Pick<Config, 'defaultRpm' | 'defaultConcurrency' | 'tokenRpm' | 'tokenConcurrency'>;

/** A secret that came with a request. */
export interface Credential {
  readonly secret: string;
  readonly isBearer: boolean;
}

interface AuthenticatorDeps extends AccountDeps {
  readonly config: Limits;
}

interface Known<Holder> {
  readonly holder: Holder;
  readonly caller: Caller;
}

/** Finds the caller of a key or token. */
export class Authenticator {
  readonly #deps: AuthenticatorDeps;
  readonly #keys: Directory<Known<KeyHolder>>;
  readonly #tokens: Directory<Known<TokenHolder>>;
  /** By the id of the key or of the grant. */
  readonly #lastUsedMs = new Map<string, number>();

  constructor(deps: AuthenticatorDeps) {
    const { db, bus, config } = deps;
    this.#deps = deps;
    this.#keys = new Directory(bus, async (digests) =>
      withCallers(await findKeyHolders(db, digests), (holder) => callerOfKey(holder, config)),
    );
    this.#tokens = new Directory(bus, async (digests) =>
      withCallers(await findTokenHolders(db, digests), (holder) => callerOfToken(holder, config)),
    );
    bus.on('key', (id) => this.#keys.forget(({ holder }) => holder.keyId === id));
    bus.on('grant', (id) => this.#tokens.forget(({ holder }) => holder.grantId === id));
    bus.on('person', (id) => this.#tokens.forget(({ holder }) => holder.personId === id));
    bus.on('account', (id) => {
      this.#keys.forget(({ holder }) => holder.accountId === id);
      this.#tokens.forget(({ holder }) => holder.accountId === id);
    });
  }

  /**
   * Throws the ApiError that says why not. Only what came as a bearer's in the Authorization header can be a token: elsewhere
   * a token is a key that does not exist.
   */
  authenticate({ secret, isBearer }: Credential): Promise<Caller> {
    return isBearer && secret.startsWith(ACCESS_TOKEN_PREFIX) ? this.#ofToken(secret) : this.#ofKey(secret);
  }

  async #ofKey(key: string): Promise<Caller> {
    const digest = hash('sha256', key, 'base64');
    const known = this.#keys.cached(digest) ?? (isApiKeyShape(key) ? await this.#keys.find(digest) : undefined);
    if (known === undefined) throw new ApiError('invalid_api_key');
    const nowMs = this.#deps.clock.nowMs();
    refuseUnusableKey(known.holder, nowMs);
    this.#lastUsedMs.set(known.holder.keyId, nowMs);
    return known.caller;
  }

  async #ofToken(token: string): Promise<Caller> {
    const digest = hash('sha256', token, 'base64');
    const isWellFormed = () => isSecretText(ACCESS_TOKEN_PREFIX, token);
    const known = this.#tokens.cached(digest) ?? (isWellFormed() ? await this.#tokens.find(digest) : undefined);
    const nowMs = this.#deps.clock.nowMs();
    if (known === undefined || known.holder.expiresAt.getTime() <= nowMs) throw invalidToken('invalid_api_key');
    if (known.holder.accountStatus === 'suspended') throw invalidToken('account_disabled');
    if (!known.holder.maySpend) throw invalidToken('no_account');
    this.#lastUsedMs.set(known.holder.grantId, nowMs);
    return known.caller;
  }

  /** Writes when each key and grant was last used. Called by the clock now and then, and at the end. */
  async saveLastUsed(): Promise<void> {
    if (this.#lastUsedMs.size === 0) return;
    const used = [...this.#lastUsedMs];
    this.#lastUsedMs.clear();
    try {
      await saveLastUsed(
        this.#deps.db,
        used.map(([id]) => id),
        used.map(([, ms]) => new Date(ms)),
      );
    } catch (error) {
      for (const [id, ms] of used) if (!this.#lastUsedMs.has(id)) this.#lastUsedMs.set(id, ms);
      throw error;
    }
  }
}

function withCallers<Holder>(
  holders: ReadonlyMap<string, Holder>,
  callerOf: (holder: Holder) => Caller,
): ReadonlyMap<string, Known<Holder>> {
  return new Map(Array.from(holders, ([digest, holder]) => [digest, { holder, caller: callerOf(holder) }]));
}

function refuseUnusableKey(holder: KeyHolder, nowMs: number): void {
  if (holder.disabled) throw new ApiError('key_disabled');
  if (holder.expiresAt !== null && holder.expiresAt.getTime() <= nowMs) throw new ApiError('key_expired');
  if (holder.accountStatus === 'suspended') throw new ApiError('account_disabled');
}

const TOKEN_WORDS: Partial<Record<ErrorCode, string>> = {
  invalid_api_key: 'This access token does not exist, has expired or was revoked.',
  account_disabled: 'The account of this access token is suspended.',
};

/** RFC 6750, section 3.1: the app is told that another token is needed, whatever is wrong with this one. */
export function invalidToken(code: ErrorCode, message = TOKEN_WORDS[code]): ApiError {
  const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
  return new ApiError(code, { message, headers });
}

/** Keys of one lineage share a bucket, slots and idempotency keys: rolling a key neither doubles its rates nor repeats work. */
function callerOfKey(holder: KeyHolder, config: Limits): Caller {
  const spender = holder.lineage ?? holder.keyId;
  return {
    accountId: holder.accountId,
    keyId: holder.keyId,
    credential: spender,
    scopes: undefined,
    groups: effectiveGroups(holder.keyGroups, holder.accountGroups),
    limitSubject: `key:${spender}`,
    allowance: {
      rpm: holder.rpm ?? config.defaultRpm,
      concurrency: holder.concurrency ?? config.defaultConcurrency,
    },
    hasKeyLimit: holder.hasKeyLimit,
  };
}

/** All tokens of an account share one bucket and one set of slots. */
function callerOfToken(holder: TokenHolder, config: Limits): Caller {
  return {
    accountId: holder.accountId,
    keyId: holder.grantId,
    credential: holder.grantId,
    scopes: new Set(SCOPES.filter((scope) => holder.scopes.includes(scope))),
    resource: holder.resource ?? undefined,
    groups: [...holder.groups].sort(),
    limitSubject: `tokens:${holder.accountId}`,
    allowance: {
      rpm: holder.rpm ?? config.tokenRpm,
      concurrency: holder.concurrency ?? config.tokenConcurrency,
    },
    hasKeyLimit: holder.hasLimit,
  };
}

/** A key may narrow its account's groups and never widen them. */
function effectiveGroups(keyGroups: readonly string[] | null, accountGroups: readonly string[]): readonly string[] {
  const groups = keyGroups === null ? accountGroups : keyGroups.filter((group) => accountGroups.includes(group));
  return [...groups].sort();
}

import { type Actor, recordChange } from '../audit/index.ts';
import { type Clock, unixSeconds } from '../clock.ts';
import { creditsToNumber } from '../credits.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { LIVE_KEYS_PER_ACCOUNT_MAX } from '../limits.ts';
import { apiKeyDigest, apiKeyPrefix, newApiKey } from './api-key.ts';
import type { AccountDeps } from './deps.ts';
import {
  type Account,
  type ApiKey,
  type CreditLimitReset,
  countLiveKeys,
  findAccount,
  insertKey,
  lockAccount,
  lockKey,
  markKeyDeleted,
  saveKey,
} from './store.ts';

/** What an operator or account holder decides about a key; null means no limit of its own. */
export interface KeySettings {
  readonly name: string;
  readonly groups: readonly string[] | null;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly creditLimit: bigint | null;
  readonly creditLimitReset: CreditLimitReset | null;
  readonly expiresAt: Date | null;
}

/** The key itself is in `secret`, this once and never again. */
export interface NewKey {
  readonly key: ApiKey;
  readonly secret: string;
}

export async function createKey(
  deps: AccountDeps,
  by: Actor,
  accountId: string,
  settings: KeySettings,
): Promise<NewKey> {
  return deps.db.transaction((tx) => addKey(tx, by, accountId, settings, deps.clock));
}

/** The same as part of a larger change. */
export async function addKey(
  tx: Tx,
  by: Actor,
  accountId: string,
  settings: KeySettings,
  clock: Clock,
): Promise<NewKey> {
  // The account's row is locked, so parallel creations are counted one after the other.
  const account = await lockAccount(tx, accountId);
  if (account === undefined) throw new ApiError('account_not_found');
  refuseWider(settings.groups, account);
  if ((await countLiveKeys(tx, accountId)) >= LIVE_KEYS_PER_ACCOUNT_MAX) throw new ApiError('key_limit_reached');
  const secret = newApiKey();
  const createdAt = clock.now();
  const issued = { prefix: apiKeyPrefix(secret), disabled: false, lastUsedAt: null, createdAt };
  const key: ApiKey = { ...settings, ...issued, id: newId('key'), accountId };
  await insertKey(tx, key, apiKeyDigest(secret));
  const detail = { account: accountId, prefix: key.prefix, ...settingsDetail(settings) };
  await recordChange(tx, by, { at: createdAt, action: 'key.create', target: key.id, detail });
  return { key, secret };
}

export type KeyChange = { readonly [Name in keyof KeySettings]?: KeySettings[Name] | undefined } & {
  readonly disabled?: boolean | undefined;
};

/** Which key; with an account, a key of another one is not found. */
export interface KeyRef {
  readonly id: string;
  readonly accountId?: string;
}

/** Resolves when no process serves the key by its old state any more. */
export async function updateKey(deps: AccountDeps, by: Actor, ref: KeyRef, change: KeyChange): Promise<ApiKey> {
  return changeKey(deps, ref, async (tx, before) => {
    const changes = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const after: ApiKey = { ...before, ...changes };
    if (change.groups !== undefined) refuseWider(change.groups, await findAccount(tx, before.accountId));
    await saveKey(tx, after);
    await recordChange(tx, by, {
      at: deps.clock.now(),
      action: 'key.update',
      target: before.id,
      detail: settingsDetail(change),
    });
    return after;
  });
}

/** Resolves when no process accepts the key any more. */
export async function deleteKey(deps: AccountDeps, by: Actor, ref: KeyRef): Promise<ApiKey> {
  return changeKey(deps, ref, async (tx, before) => {
    const { id, accountId: account } = before;
    const now = deps.clock.now();
    await markKeyDeleted(tx, id, now);
    await recordChange(tx, by, { at: now, action: 'key.delete', target: id, detail: { account } });
    return before;
  });
}

/** A key narrows its account's groups. An account that is narrowed later narrows its keys with it (`authenticate.ts`). */
function refuseWider(groups: readonly string[] | null | undefined, account: Pick<Account, 'groups'> | undefined): void {
  const beyond = groups?.find((group) => !account?.groups.includes(group));
  if (beyond === undefined) return;
  const own = account?.groups.join(', ') ?? '';
  throw new ApiError('invalid_parameter', {
    message: `"groups": the account does not have the group "${beyond}"; it has ${own}.`,
    param: 'groups',
  });
}

async function changeKey(
  deps: AccountDeps,
  ref: KeyRef,
  work: (tx: Tx, before: ApiKey) => Promise<ApiKey>,
): Promise<ApiKey> {
  const key = await deps.db.transaction(async (tx) => {
    const before = await lockKey(tx, ref.id);
    if (before === undefined || before.accountId !== (ref.accountId ?? before.accountId))
      throw new ApiError('key_not_found');
    const after = await work(tx, before);
    await deps.bus.announce(tx, 'key', ref.id);
    return after;
  });
  await deps.bus.heardByAll();
  return key;
}

/** As the wire names and counts them; what was not given is not there. */
function settingsDetail(change: KeyChange): JsonObject {
  const named = {
    name: change.name,
    disabled: change.disabled,
    groups: change.groups,
    rpm: change.rpm,
    concurrency: change.concurrency,
    credit_limit: typeof change.creditLimit === 'bigint' ? creditsToNumber(change.creditLimit) : change.creditLimit,
    credit_limit_reset: change.creditLimitReset,
    expires_at: change.expiresAt instanceof Date ? unixSeconds(change.expiresAt) : change.expiresAt,
  };
  return JSON.parse(JSON.stringify(named));
}

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
  findAccountOfKey,
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
  const made = await issueKey(tx, clock, { ...settings, accountId, disabled: false, lineage: null });
  const { id, prefix, createdAt } = made.key;
  const detail = { account: accountId, prefix, ...settingsDetail(settings) };
  await recordChange(tx, by, { at: createdAt, action: 'key.create', target: id, detail });
  return made;
}

/** Only right under the account's lock. Throws `key_limit_reached`. */
async function issueKey(
  tx: Tx,
  clock: Clock,
  settings: KeySettings & Pick<ApiKey, 'accountId' | 'disabled' | 'lineage'>,
): Promise<NewKey> {
  if ((await countLiveKeys(tx, settings.accountId)) >= LIVE_KEYS_PER_ACCOUNT_MAX) {
    throw new ApiError('key_limit_reached');
  }
  const secret = newApiKey();
  const issued = { id: newId('key'), prefix: apiKeyPrefix(secret), lastUsedAt: null, createdAt: clock.now() };
  const key: ApiKey = { ...settings, ...issued };
  await insertKey(tx, key, apiKeyDigest(secret));
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

export interface RolledKey extends NewKey {
  /** The key in whose place the new one is, with the day on which it ends. */
  readonly replaced: ApiKey;
}

/**
 * Makes a key with the settings of another, which ends after the overlap, or at its own expiry if that is sooner. Both are
 * of one lineage: they share credit limits, rates and idempotency keys. Resolves when every process knows when the old one
 * ends. Throws `key_not_found`, `key_over` and `key_limit_reached`.
 */
export async function rollKey(deps: AccountDeps, by: Actor, ref: KeyRef, overlapMs: number): Promise<RolledKey> {
  const rolled = await deps.db.transaction(async (tx) => {
    // Accounts before keys, as everywhere: the account's lock makes the count of its keys right.
    const account = await lockAccount(tx, ref.accountId ?? (await findAccountOfKey(tx, ref.id)) ?? '');
    const before = account === undefined ? undefined : await lockKey(tx, ref.id);
    if (before === undefined || before.accountId !== account?.id) throw new ApiError('key_not_found');
    const now = deps.clock.now();
    if (before.expiresAt !== null && before.expiresAt <= now) throw new ApiError('key_over');
    const lineage = before.lineage ?? before.id;
    const { key, secret } = await issueKey(tx, deps.clock, { ...before, lineage });
    const replaced = { ...before, lineage, expiresAt: soonest(before.expiresAt, new Date(now.getTime() + overlapMs)) };
    await saveKey(tx, replaced);
    const detail = { account: key.accountId, new_key: key.id, prefix: key.prefix, ...settingsDetail(replaced) };
    await recordChange(tx, by, { at: now, action: 'key.roll', target: before.id, detail });
    await deps.bus.announce(tx, 'key', before.id);
    return { key, secret, replaced };
  });
  await deps.bus.heardByAll();
  return rolled;
}

function soonest(expiry: Date | null, end: Date): Date {
  return expiry === null || end < expiry ? end : expiry;
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

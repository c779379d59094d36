import { type Actor, recordChange } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { AccountDeps } from './deps.ts';
import { type Account, type AccountStatus, insertAccount, lockAccount, saveAccount } from './store.ts';

export interface NewAccount {
  readonly name: string;
  readonly email?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}

/** Part of a larger change. */
export async function addAccount(tx: Tx, by: Actor, input: NewAccount, clock: Clock): Promise<Account> {
  const account: Account = {
    id: newId('acct'),
    name: input.name,
    email: input.email ?? null,
    status: 'active',
    groups: input.groups ?? ['default'],
    rpm: null,
    concurrency: null,
    createdAt: clock.now(),
  };
  await insertAccount(tx, account);
  const detail = { name: account.name, email: account.email, groups: account.groups };
  await recordChange(tx, by, { at: account.createdAt, action: 'account.create', target: account.id, detail });
  return account;
}

export interface AccountChange {
  readonly name?: string | undefined;
  readonly status?: AccountStatus | undefined;
  readonly groups?: readonly string[] | undefined;
  /** Null goes back to the deployment's default. */
  readonly limits?:
    | { readonly rpm?: number | null | undefined; readonly concurrency?: number | null | undefined }
    | undefined;
}

/** Resolves when no process serves the account by its old state any more. */
export async function updateAccount(deps: AccountDeps, by: Actor, id: string, change: AccountChange): Promise<Account> {
  const account = await deps.db.transaction((tx) => changeAccount(tx, deps, by, id, change));
  await deps.bus.heardByAll();
  return account;
}

/** The same as part of a larger change, after whose commit `bus.heardByAll` is waited for. */
export async function changeAccount(
  tx: Tx,
  { bus, clock }: Pick<AccountDeps, 'bus' | 'clock'>,
  by: Actor,
  id: string,
  change: AccountChange,
): Promise<Account> {
  const before = await lockAccount(tx, id);
  if (before === undefined) throw new ApiError('account_not_found');
  const after: Account = {
    ...before,
    name: change.name ?? before.name,
    status: change.status ?? before.status,
    groups: change.groups ?? before.groups,
    rpm: change.limits?.rpm === undefined ? before.rpm : change.limits.rpm,
    concurrency: change.limits?.concurrency === undefined ? before.concurrency : change.limits.concurrency,
  };
  const at = clock.now();
  await saveAccount(tx, after, at);
  const detail = JSON.parse(JSON.stringify(change));
  await recordChange(tx, by, { at, action: 'account.update', target: id, detail });
  await bus.announce(tx, 'account', id);
  return after;
}

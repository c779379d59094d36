import type { Config } from '../config.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from './caller.ts';
import { findAccount } from './store.ts';

interface ConsoleDeps {
  readonly db: Db;
  readonly config: Pick<Config, 'defaultRpm' | 'defaultConcurrency'>;
}

/**
 * A person who calls as the account, without a key: everything that the account reaches, with one bucket and one set of
 * slots for all its people. Read afresh, as the session was. Throws `no_account` and `account_disabled`.
 */
export async function findConsoleCaller(
  { db, config }: ConsoleDeps,
  accountId: string,
  personId: string,
): Promise<Caller> {
  const account = await findAccount(db, accountId);
  if (account === undefined) throw new ApiError('no_account');
  if (account.status === 'suspended') throw new ApiError('account_disabled');
  return {
    accountId,
    keyId: undefined,
    credential: `console:${personId}`,
    scopes: undefined,
    groups: [...account.groups].sort(),
    limitSubject: `console:${accountId}`,
    allowance: {
      rpm: account.rpm ?? config.defaultRpm,
      concurrency: account.concurrency ?? config.defaultConcurrency,
    },
    hasKeyLimit: false,
  };
}

import { type Account, addAccount, addKey, listAccounts } from './accounts/index.ts';
import { type Catalogue, type ListedModel, PUBLIC_GROUP } from './catalogue/index.ts';
import type { Clock } from './clock.ts';
import { MICRO_PER_CREDIT } from './credits.ts';
import type { Db } from './db/index.ts';
import { grant } from './ledger/index.ts';

const DEMO_CREDITS = 10_000n;

/** What there is to begin with when a start is done. */
export interface FirstSteps {
  /** The key of the demo account, if this start made it; it is never shown again. */
  readonly key: string | undefined;
  /** The newest account, if there is any. */
  readonly account: { readonly id: string; readonly name: string } | undefined;
  /** What that account, or a new one, can call. */
  readonly models: readonly ListedModel[];
}

/** Makes the demo account where there is to be one. It comes last: a start that fails must not have made its key. */
export async function prepareFirstSteps(
  { db, clock, catalogue }: { db: Db; clock: Clock; catalogue: Catalogue },
  { mayMakeDemo }: { mayMakeDemo: boolean },
): Promise<FirstSteps> {
  const [known] = await listAccounts(db, { limit: 1, after: undefined });
  const made = known === undefined && mayMakeDemo ? await makeDemoAccount(db, clock) : undefined;
  const account = known ?? made?.account;
  const models = catalogue.snapshot.reachableFrom(account?.groups ?? [PUBLIC_GROUP]);
  return { key: made?.key, account, models };
}

async function makeDemoAccount(db: Db, clock: Clock): Promise<{ key: string; account: Account }> {
  const by = { name: 'start', requestId: undefined };
  const unlimited = {
    groups: null,
    rpm: null,
    concurrency: null,
    creditLimit: null,
    creditLimitReset: null,
    expiresAt: null,
  };
  return db.transaction(async (tx) => {
    const account = await addAccount(tx, by, { name: 'demo' }, clock);
    await grant(tx, {
      accountId: account.id,
      amount: DEMO_CREDITS * MICRO_PER_CREDIT,
      source: 'demo',
      reference: undefined,
      expiresAt: undefined,
      now: clock.now(),
    });
    const { secret } = await addKey(tx, by, account.id, { name: 'demo', ...unlimited }, clock);
    return { key: secret, account };
  });
}

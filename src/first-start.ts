import { type Account, addAccount, addKey, listAccounts } from './accounts/index.ts';
import { type Catalogue, type ListedModel, PUBLIC_GROUP } from './catalogue/index.ts';
import type { Clock } from './clock.ts';
import { MICRO_PER_CREDIT } from './credits.ts';
import type { Db } from './db/index.ts';
import { grant } from './ledger/index.ts';
import { invitations } from './people/index.ts';

const DEMO_CREDITS = 10_000n;
/** Of a domain that never receives mail. */
const DEMO_EMAIL = 'demo@tollgate.localhost';
const BY_START = { name: 'start', requestId: undefined };

/** What there is to begin with when a start is done. */
export interface FirstSteps {
  /** The key of the demo account, if this start made it; it is never shown again. */
  readonly key: string | undefined;
  /** Signs in the demo operator once; undefined where there is none, or once a password was set. */
  readonly signInLink: string | undefined;
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
  const link = mayMakeDemo ? await invitations.makeSignInLink({ db, clock }, BY_START, DEMO_EMAIL) : undefined;
  return { key: made?.key, signInLink: link?.secret, account, models };
}

async function makeDemoAccount(db: Db, clock: Clock): Promise<{ key: string; account: Account }> {
  const unlimited = {
    groups: null,
    rpm: null,
    concurrency: null,
    creditLimit: null,
    creditLimitReset: null,
    expiresAt: null,
  };
  return db.transaction(async (tx) => {
    const account = await addAccount(tx, BY_START, { name: 'demo' }, clock);
    await invitations.addDemoOperator(tx, BY_START, DEMO_EMAIL, account.id, account.createdAt);
    await grant(tx, {
      accountId: account.id,
      amount: DEMO_CREDITS * MICRO_PER_CREDIT,
      source: 'demo',
      reference: undefined,
      expiresAt: undefined,
      now: clock.now(),
    });
    const { secret } = await addKey(tx, BY_START, account.id, { name: 'demo', ...unlimited }, clock);
    return { key: secret, account };
  });
}

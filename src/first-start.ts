import { type Account, addAccount, addKey, listAccounts } from './accounts/index.ts';
import { type Catalogue, type ListedModel, PUBLIC_GROUP } from './catalogue/index.ts';
import type { Clock } from './clock.ts';
import type { FirstOperator } from './config.ts';
import { MICRO_PER_CREDIT } from './credits.ts';
import { type Db, retryWhileUnavailable } from './db/index.ts';
import { grant } from './ledger/index.ts';
import type { Logger } from './log.ts';
import { ensureFirstOperator, type FirstOperatorOutcome, invitations } from './people/index.ts';

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

/** Before anything is served. The password is never told, and that of a person who is there already stays. */
export async function makeFirstOperator(
  { db, clock, log }: { db: Db; clock: Clock; log: Logger },
  firstOperator: FirstOperator | undefined,
): Promise<void> {
  if (firstOperator === undefined) return;
  const outcome = await ensureFirstOperator({ db, clock }, firstOperator);
  if (outcome === 'not an operator') log.warn(FIRST_OPERATOR[outcome]);
  else log.info(FIRST_OPERATOR[outcome]);
}

const FIRST_OPERATOR: Readonly<Record<FirstOperatorOutcome, string>> = {
  created: 'the first operator was made',
  exists: 'there is an operator: TOLLGATE_INIT_OPERATOR_EMAIL changes nothing',
  'not an operator':
    'the person of TOLLGATE_INIT_OPERATOR_EMAIL is no operator and was left alone: "tollgate admin create" gives the role',
};

/** Makes the demo account where there is to be one. It comes last: a start that fails must not have made its key. */
export async function prepareFirstSteps(
  { db, clock, catalogue }: { db: Db; clock: Clock; catalogue: Catalogue },
  { mayMakeDemo, operatorEmail }: { mayMakeDemo: boolean; operatorEmail: string | undefined },
): Promise<FirstSteps> {
  const [known] = await retryWhileUnavailable(() => listAccounts(db, { limit: 1, after: undefined }));
  const made = known === undefined && mayMakeDemo ? await makeDemoAccount(db, clock, operatorEmail) : undefined;
  const account = known ?? made?.account;
  const models = catalogue.snapshot.reachableFrom(account?.groups ?? [PUBLIC_GROUP]);
  const makeLink = () => invitations.makeSignInLink({ db, clock }, BY_START, DEMO_EMAIL);
  const link = mayMakeDemo ? await retryWhileUnavailable(makeLink) : undefined;
  return { key: made?.key, signInLink: link?.secret, account, models };
}

async function makeDemoAccount(
  db: Db,
  clock: Clock,
  operatorEmail: string | undefined,
): Promise<{ key: string; account: Account }> {
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
    await invitations.addDemoOwner(tx, BY_START, account, { operator: operatorEmail, demo: DEMO_EMAIL });
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

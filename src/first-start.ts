import { addAccount, addKey, listAccounts } from './accounts/index.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { MICRO_PER_CREDIT } from './credits.ts';
import type { Db } from './db/index.ts';
import { grant } from './ledger/index.ts';

const DEMO_CREDITS = 10_000n;
const TRIAL_SPEECH = '{"model": "sandbox/speech", "input": "Good morning. The gate is open."}';
const TRIAL_PICTURE = '{"model": "sandbox/image", "prompt": "a toll gate at sunrise"}';

export interface FirstStart {
  /** The demo account's key, which is never shown again. */
  readonly key: string;
}

/** Gives whoever tries Tollgate an account with credits and a key, once in the life of a data folder. */
export async function makeDemoAccount({ db, clock }: { db: Db; clock: Clock }): Promise<FirstStart | undefined> {
  const accounts = await listAccounts(db, { limit: 1, after: undefined });
  if (accounts.length > 0) return undefined;
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
    return { key: secret };
  });
}

/** What a start tells the person who made it. */
export function welcome(url: string, config: Config, firstStart: FirstStart | undefined): string {
  const key = firstStart?.key ?? '$TOLLGATE_KEY';
  const lines = [
    '',
    `Tollgate answers at ${url}`,
    config.adminToken === undefined ? `The admin token is in ${config.dataFolder}/admin-token` : undefined,
    firstStart === undefined ? undefined : `Your demo key, shown only now: ${key}`,
    '',
    'Try it:',
    `  curl ${url}/v1/models -H "Authorization: Bearer ${key}"`,
    `  curl ${url}/v1/images/generations -H "Authorization: Bearer ${key}" --json '${TRIAL_PICTURE}'`,
    `  curl ${url}/v1/audio/speech -H "Authorization: Bearer ${key}" -o speech.mp3 --json '${TRIAL_SPEECH}'`,
    '',
  ];
  return lines.filter((line) => line !== undefined).join('\n');
}

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { verdicts } from '../src/ledger/index.ts';
import { silentLog } from './support/database.ts';
import { Scrape } from './support/exposition.ts';
import { Gateway } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { openAccount, openLedger } from './support/ledger.ts';
import { until } from './support/postgres.ts';

const MINUTE = 60;
const ledger = await openLedger();
const { db, clock } = ledger;

const { BooksCheck, lastVerdict } = verdicts;

function checkOf(processId: string): verdicts.BooksCheck {
  return new BooksCheck({ db, clock, log: silentLog, processId, everyMs: 10 * MINUTE * 1000 });
}

test('R-273: books are checked when the last check is old enough, an operator’s included, by one process', async () => {
  await openAccount(ledger, 5n);
  assert.equal(await lastVerdict(db), undefined);
  const rounds = await Promise.all(['proc_one', 'proc_two', 'proc_three'].map((id) => checkOf(id).run()));
  assert.ok(rounds.includes(undefined));
  const first = { checkedAt: clock.now(), balanced: true };
  assert.deepEqual(await lastVerdict(db), first);
  clock.advance(10 * MINUTE - 1);
  await checkOf('proc_two').run();
  assert.deepEqual(await lastVerdict(db), first);
  clock.advance(1);
  await checkOf('proc_two').run();
  assert.deepEqual(await lastVerdict(db), { checkedAt: clock.now(), balanced: true });
  assert.deepEqual(await db.rows('select owner, lease_until as until from ledger_checks'), [
    { owner: null, until: null },
  ]);
});

test('a process that dies while it checks the books is followed by another when its lease has run out', async () => {
  clock.advance(10 * MINUTE);
  const before = await lastVerdict(db);
  await db.run(`update ledger_checks set owner = 'proc_dead', lease_until = $1::timestamptz + interval '60 seconds'`, [
    clock.now(),
  ]);
  assert.equal(await checkOf('proc_one').run(), 'elsewhere');
  assert.deepEqual(await lastVerdict(db), before);
  clock.advance(60);
  assert.equal(await checkOf('proc_one').run(), undefined);
  assert.deepEqual(await lastVerdict(db), { checkedAt: clock.now(), balanced: true });
});

test('a stop ends a check, which is left to another process', async () => {
  clock.advance(10 * MINUTE);
  await openAccount(ledger, 5n);
  const before = await lastVerdict(db);
  const stopping = checkOf('proc_stops');
  stopping.stop();
  await stopping.run();
  assert.deepEqual(await lastVerdict(db), before);
  await checkOf('proc_one').run();
  assert.deepEqual((await lastVerdict(db))?.checkedAt, clock.now());
});

test('R-273: an imbalance is told by the log, the metrics and /healthz without being asked for, until it is mended', async () => {
  const captured = captureLog();
  const settings = { TOLLGATE_BOOKS_MINUTES: '10', TOLLGATE_TEST_CLOCK: '1' };
  const gateway = await Gateway.start({ settings, log: captured.log });
  after(() => gateway.stop());
  const own = openDb(gateway.database.address, silentLog);
  after(() => own.close());
  await until(async () => (await lastVerdict(own))?.balanced === true);
  const { accountId } = await gateway.newCaller();
  await gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 3 });

  const alter = (by: number) => own.run('update balances set granted = granted + $1, available = available + $1', [by]);
  const advance = (seconds: number) => gateway.admin('POST', '/clock', { advance_seconds: seconds });
  const warnings = async () => (await gateway.call('GET', '/healthz')).json.warnings.join();
  await alter(1);
  await advance(9 * MINUTE);
  assert.deepEqual([(await lastVerdict(own))?.balanced, await warnings()], [true, '']);
  assert.equal(await imbalanceAt(gateway), 0);
  await advance(MINUTE);
  assert.equal((await lastVerdict(own))?.balanced, false);
  await until(async () => /The books do not balance: GET \/api\/admin\/books/.test(await warnings()));
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  assert.equal(await imbalanceAt(gateway), 1);
  const line = captured
    .text()
    .split('\n')
    .find((one) => one.includes('the books do not balance'));
  const { level, difference } = JSON.parse(line ?? '{}');
  assert.deepEqual([level, difference?.figure, difference?.id], [50, 'balances.granted', accountId]);

  await alter(-1);
  await advance(10 * MINUTE);
  await until(async () => (await warnings()) === '');
  assert.equal(await imbalanceAt(gateway), 0);
});

/** What another process exports: one reads these figures every ten seconds at most. */
async function imbalanceAt({ database }: Gateway): Promise<number | undefined> {
  const settings = { TOLLGATE_METRICS_PORT: '0', TOLLGATE_TEST_CLOCK: '1' };
  const other = await Gateway.start({ database, settings });
  try {
    return (await Scrape.of(other.metricsUrl ?? '')).value('tollgate_books_imbalance');
  } finally {
    await other.stop();
  }
}

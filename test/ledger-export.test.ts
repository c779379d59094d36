import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Secret } from '../src/config.ts';
import { entriesOfDay, LedgerExport, listExports } from '../src/exports/index.ts';
import { CallLedger } from '../src/ledger/index.ts';
import { EXPORT_ENTRIES_PER_READ } from '../src/limits.ts';
import { FolderStore } from '../src/storage/index.ts';
import { ManualClock } from './support/clock.ts';
import { Commands } from './support/commands.ts';
import { silentLog } from './support/database.ts';
import { ADMIN_TOKEN, Gateway } from './support/gateway.ts';
import { give, newReservation, openAccount, openKey, openLedger, type TestLedger } from './support/ledger.ts';
import { paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

const DAY = 24 * 3_600;
const ledger = await openLedger();
const { db, clock, database } = ledger;
const objects = await FolderStore.open({
  folder: join(database.dataFolder, 'exported'),
  publicUrl: 'http://127.0.0.1',
  rootSecret: new Secret('a root secret of the tests of this file'),
  previousSecret: undefined,
});

function exportOf(processId: string, store: FolderStore = objects): LedgerExport {
  return new LedgerExport({ db, clock, objects: store, log: silentLog, processId });
}

async function fileOf(day: string): Promise<Buffer> {
  const stored = await objects.read(`ledger-exports/${day}`);
  assert.ok(stored, day);
  return buffer(stored.body);
}

/** RFC 4180: fields in quotes may hold commas, quotes and line breaks. */
function rowsOfCsv(text: string): Record<string, string>[] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const lines: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(field)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') lines.push([]);
  }
  assert.deepEqual(lines.pop(), []);
  const [head = [], ...rows] = lines;
  for (const row of rows) assert.equal(row.length, head.length);
  return rows.map((row) => Object.fromEntries(head.map((name, place) => [name, row[place] ?? ''])));
}

/** Credits in decimals as micro-credits, exactly. */
function micro(text: string | undefined): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text ?? '') ?? assert.fail(text);
  return BigInt(sign + whole + fraction.padEnd(6, '0'));
}

/** Calls of every kind on three days: by purse and under the lock, refunded, above their reservation; and a lapse. */
async function threeDays({ plain }: TestLedger): Promise<void> {
  const account = await openAccount(ledger, 1_000_000_000n);
  await give(ledger, account, 2_000_001n, new Date(clock.nowMs() + 1.5 * DAY * 1000));
  const other = await openAccount(ledger, 7n);
  const key = await openKey(ledger, account, 10n ** 12n);
  const calls = new CallLedger({ db, clock, processId: 'proc_export' });
  await calls.extendLease();
  for (let day = 0; day < 3; day++) {
    for (let n = 0; n < 40; n++) {
      const model = n % 7 === 0 ? 'studio/"quoted", and\nbroken' : '=studio/chat';
      const call = { ...newReservation(account, 100_003n, key), model };
      const way = n % 2 === 0 ? calls : plain;
      await calls.reserve(call, n % 2 !== 0);
      if (n % 5 === 0) await way.refund(call);
      else if (n % 11 === 0) await plain.settle(call, 100_004n);
      else await way.settle(call, BigInt(n * 1_234 + 1));
      clock.advance(600);
    }
    await plain.reserve(newReservation(other, 1n));
    clock.advance(DAY - 40 * 600);
  }
  await calls.close();
  clock.advance(DAY);
}

test('R-273: the files of all days add up to every balance and grant, to the micro-credit', async () => {
  await threeDays(ledger);
  await exportOf('proc_one').run();
  const days = await listExports(db, 100, undefined);
  assert.deepEqual(days.map(({ day }) => day).toSorted(), ['2030-01-15', '2030-01-16', '2030-01-17', '2030-01-18']);
  const [balances, remainders, numbers] = [
    new Map<string, bigint[]>(),
    new Map<string, bigint>(),
    new Map<string, number>(),
  ];
  for (const { day, entries, bytes } of days.toReversed()) {
    const file = await fileOf(day);
    assert.equal(BigInt(file.length), bytes);
    const rows = rowsOfCsv(gunzipSync(file).toString());
    assert.equal(BigInt(rows.length), entries);
    for (const row of rows) {
      const { account_id = '', number, created_at = '', grants = '', type } = row;
      assert.equal(created_at.slice(0, 10), day);
      // None is missing, none is there twice, and they are in their order.
      assert.equal(Number(number), (numbers.get(account_id) ?? 0) + 1);
      numbers.set(account_id, Number(number));
      const moved = ['granted', 'available', 'reserved', 'charged', 'lapsed'].map((place) => micro(row[place]));
      const before = balances.get(account_id) ?? moved.map(() => 0n);
      const now = moved.map((amount, place) => amount + (before[place] ?? 0n));
      balances.set(account_id, now);
      assert.equal(micro(row.balance), now[1]);
      for (const part of grants === '' ? [] : grants.split(' ')) {
        const [grant = '', amount] = part.split(':');
        remainders.set(grant, (remainders.get(grant) ?? 0n) + micro(amount));
      }
      if (type === 'reserve')
        assert.match(row.model ?? '', /^(?:'=studio\/chat|studio\/"quoted", and\nbroken|test\/chat)$/);
    }
  }
  const recorded = await db.rows<{ id: string; figures: bigint[] }>(
    'select account_id as id, array[granted, available, reserved, charged, lapsed]::text[] as figures from balances',
  );
  assert.deepEqual(
    new Map([...balances].map(([id, figures]) => [id, figures.map(String)])),
    new Map(recorded.map(({ id, figures }) => [id, figures])),
  );
  const grants = await db.rows<{ id: string; remaining: bigint }>('select id, remaining from grants');
  assert.deepEqual(remainders, new Map(grants.map(({ id, remaining }) => [id, remaining])));
});

test('a day is written once by many processes, and a second round changes nothing', async () => {
  clock.advance(2 * DAY);
  const before = await listExports(db, 100, undefined);
  await Promise.all(['proc_one', 'proc_two', 'proc_three'].map((id) => exportOf(id).run()));
  // One that was turned away leaves the rest to the next round.
  await exportOf('proc_four').run();
  const written = await listExports(db, 100, undefined);
  assert.equal(written.length, before.length + 2);
  clock.advance(60);
  await exportOf('proc_one').run();
  assert.deepEqual(await listExports(db, 100, undefined), written);
});

test('a process that dies while it writes a day is followed by another when its lease has run out', async () => {
  clock.advance(DAY);
  const before = await listExports(db, 1, undefined);
  // What it leaves behind: the lease, and perhaps the object.
  const [lost] = await db.rows<{ day: string }>(
    `insert into ledger_exports (day, owner, lease_until)
     select max(day) + 1, 'proc_dead', $1::timestamptz + interval '60 seconds' from ledger_exports returning day::text`,
    [clock.now()],
  );
  await objects.put(`ledger-exports/${lost?.day}`, Buffer.from('half'), { mimeType: 'application/gzip', bytesMax: 10 });
  await exportOf('proc_two').run();
  assert.deepEqual(await listExports(db, 1, undefined), before);
  clock.advance(61);
  await exportOf('proc_two').run();
  const [newest] = await listExports(db, 1, undefined);
  assert.equal(newest?.day, lost?.day);
  assert.match(gunzipSync(await fileOf(newest?.day ?? '')).toString(), /^created_at,account_id,number/);
});

test('an entry that came late is in the file of its day after the next round', async () => {
  const account = await openAccount(ledger, 1_000n);
  const behind = new ManualClock();
  behind.advance((clock.nowMs() - behind.nowMs()) / 1000);
  clock.advance(DAY);
  await exportOf('proc_one').run();
  const [first] = await listExports(db, 1, undefined);
  const late = new CallLedger({ db, clock: behind, processId: 'proc_behind' });
  await late.reserve(newReservation(account, 5n));
  clock.advance(DAY);
  await exportOf('proc_one').run();
  const again = (await listExports(db, 2, undefined))[1];
  assert.equal(again?.day, first?.day);
  assert.equal(again?.entries, (first?.entries ?? 0n) + 1n);
  assert.match(gunzipSync(await fileOf(again?.day ?? '')).toString(), new RegExp(`${account},2,reserve`));
});

test('however many entries have one time, as those of grants that lapse at once, no statement reads more than a page', async () => {
  const count = 2 * EXPORT_ENTRIES_PER_READ + 7;
  const at = new Date(clock.nowMs() + 1_000);
  const ids = await Promise.all(Array.from({ length: 5 }, () => openAccount(ledger, 1n)));
  // As many of one account as make a page end in the middle of it.
  await db.transaction(async (tx) => {
    await tx.script('alter table ledger_entries disable trigger user');
    await tx.run(
      `insert into ledger_entries (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at,
         grant_ids, parts)
       select account_id, number + n / cardinality($1::text[]) + 1, 'lapse', 0, -1, 0, 0, 1, balance - 1, $2, '{}', '{}'
       from generate_series(0, $3::int - 1) as n
       join ledger_entries on account_id = ($1::text[])[n % cardinality($1::text[]) + 1] and number = 1`,
      [ids, at, count],
    );
    await tx.script('alter table ledger_entries enable trigger user');
  });
  const pieces: number[] = [];
  const day = at.toISOString().slice(0, 10);
  const text = (await Array.fromAsync(entriesOfDay(db, day, { onPiece: (entries) => void pieces.push(entries) }))).join(
    '',
  );
  assert.ok(Math.max(...pieces) <= EXPORT_ENTRIES_PER_READ, String(pieces));
  const lapses = rowsOfCsv(text).filter(({ type }) => type === 'lapse');
  const keys = lapses.map(({ account_id = '', number }) => `${account_id} ${number?.padStart(9)}`);
  assert.equal(keys.length, count);
  assert.deepEqual(keys, [...new Set(keys)].toSorted());
  assert.equal(await countEntries(day), rowsOfCsv(text).length);
  // The figures of these accounts follow from none of it.
  await db.transaction(async (tx) => {
    await tx.script('alter table ledger_entries disable trigger user');
    await tx.run('delete from ledger_entries where created_at = $1', [at]);
    await tx.script('alter table ledger_entries enable trigger user');
  });
});

async function countEntries(day: string): Promise<number> {
  const [row] = await db.rows<{ count: number }>(
    `select count(*)::int as count from ledger_entries where (created_at at time zone 'UTC')::date = $1`,
    [day],
  );
  return row?.count ?? 0;
}

test('a stop ends the round, and the day is left to the next', async () => {
  clock.advance(DAY);
  const [before] = await listExports(db, 1, undefined);
  const stopping = exportOf('proc_stops');
  stopping.stop();
  await stopping.run();
  assert.deepEqual((await listExports(db, 1, undefined))[0], before);
  assert.deepEqual(await db.rows('select from ledger_exports where owner is not null'), []);
  await exportOf('proc_one').run();
  assert.notEqual((await listExports(db, 1, undefined))[0]?.day, before?.day);
});

test('an operator lists the days, fetches one, and writes one by a command', async (t) => {
  const settings = { TOLLGATE_LEDGER_EXPORT: '1' };
  const gateway = await Gateway.start({ settings });
  after(() => gateway.stop());
  const { accountId } = await paidCaller(gateway, 12.5);
  gateway.clock.advance(2 * DAY);
  const other = await Gateway.start({ settings, database: gateway.database, clock: gateway.clock });
  after(() => other.stop());
  await until(async () => (await gateway.admin('GET', '/ledger/exports')).json.data.length === 2);
  const { json: list } = await gateway.admin('GET', '/ledger/exports');
  const [later, first] = list.data;
  assert.deepEqual([list.has_more, later.id, later.entries], [false, '2030-01-16', 0]);
  assert.deepEqual([first.id, first.entries], ['2030-01-15', 1]);
  assert.deepEqual((await gateway.admin('GET', '/ledger/exports?after=2030-01-15')).json.data, []);
  assert.equal((await gateway.admin('GET', '/ledger/exports?after=soon')).status, 400);
  const answer = await fetch(`${gateway.url}/api/admin/ledger/exports/2030-01-15`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const file = Buffer.from(await answer.arrayBuffer());
  assert.equal(answer.headers.get('content-type'), 'application/gzip');
  assert.equal(file.length, first.bytes);
  const [row] = rowsOfCsv(gunzipSync(file).toString());
  assert.deepEqual([row?.account_id, row?.type, row?.granted], [accountId, 'grant', '12.5']);
  for (const day of ['2030-01-17', '2030-02-31', 'today']) {
    assert.equal((await gateway.admin('GET', `/ledger/exports/${day}`)).json.error.code, 'not_found');
  }
  const commands = new Commands();
  after(() => commands.stop());
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const environment = {
    DATABASE_URL: gateway.database.url,
    TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    TOLLGATE_SECRET: 'x'.repeat(32),
  };
  const written = await commands.run(['ledger', 'export', '2030-01-15', 'day.csv.gz'], folder, environment);
  assert.equal(written.out, 'day.csv.gz holds the 1 entries of 2030-01-15.\n', written.err);
  assert.deepEqual(gunzipSync(readFileSync(join(folder, 'day.csv.gz'))), gunzipSync(file));
  const again = await commands.run(['ledger', 'export', '2030-01-15', 'day.csv.gz'], folder, environment);
  assert.equal(again.code, 1);
  assert.match(again.err, /cannot be written/);
  assert.equal((await commands.run(['ledger', 'export', 'monday', 'x'], folder, environment)).code, 2);
});

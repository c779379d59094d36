import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { DatabaseUnavailable, openDb } from '../src/db/index.ts';
import { timedUuid } from '../src/ids.ts';
import { REQUEST_LINES_HELD_MAX } from '../src/limits.ts';
import { type RequestLine, RequestLog } from '../src/request-log/index.ts';
import { ManualClock } from './support/clock.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';

const clock = new ManualClock();

function lineOf(more: Partial<RequestLine> = {}): RequestLine {
  return {
    id: timedUuid(clock.nowMs()),
    createdAt: clock.now(),
    accountId: 'acct_one',
    keyId: 'key_one',
    personId: undefined,
    requestId: 'req_one',
    endpoint: 'chat',
    model: 'test/one',
    status: 200,
    errorCode: undefined,
    durationMs: 1,
    isStreamed: false,
    upstreamId: undefined,
    reservationId: undefined,
    jobId: undefined,
    cost: undefined,
    isRepeatable: false,
    ...more,
  };
}

/** A log that writes over a link which can be cut, and what it warns of. */
async function open(t: { after: (end: () => Promise<void>) => void }) {
  const database = await createDatabase();
  const link = await DatabaseLink.open(database);
  const warnings: { dropped?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (text: string) => warnings.push(JSON.parse(text)) });
  const db = openDb({ url: link.database.url }, silentLog);
  const reader = openDb(database.address, silentLog);
  t.after(async () => {
    await Promise.all([db.close(), reader.close()]);
    await link.cut().catch(() => undefined);
    await database.drop();
  });
  const counts = async () => {
    const [row] = await reader.rows<{ rows: number; requests: number }>(
      'select count(*)::int as rows, coalesce(sum(requests), 0)::int as requests from request_log',
    );
    return row;
  };
  return { link, warnings, counts, requestLog: new RequestLog({ db, clock, log, days: 30 }) };
}

test('lines outlive an outage up to the bound; what is beyond it is dropped and told once a minute', async (t) => {
  const { link, warnings, counts, requestLog } = await open(t);
  requestLog.add(lineOf());
  await requestLog.flush();
  await link.cut();
  for (let count = 0; count < REQUEST_LINES_HELD_MAX + 7; count++) requestLog.add(lineOf());
  await assert.rejects(requestLog.flush(), DatabaseUnavailable);
  await assert.rejects(requestLog.flush(), DatabaseUnavailable);
  assert.deepEqual(
    warnings.map(({ dropped }) => dropped),
    [7],
  );
  requestLog.add(lineOf());
  await assert.rejects(requestLog.flush(), DatabaseUnavailable);
  assert.equal(warnings.length, 1);
  clock.advance(60);
  await link.restore();
  await requestLog.flush();
  assert.deepEqual(
    warnings.map(({ dropped }) => dropped),
    [7, 1],
  );
  assert.deepEqual(await counts(), { rows: REQUEST_LINES_HELD_MAX + 1, requests: REQUEST_LINES_HELD_MAX + 1 });
});

test('a flush writes what was added before it, and a later one does not write it again', async (t) => {
  const { counts, requestLog } = await open(t);
  const lines = Array.from({ length: 1_200 }, () => lineOf());
  for (const line of lines) requestLog.add(line);
  await Promise.all([requestLog.flush(), requestLog.flush()]);
  assert.deepEqual(await counts(), { rows: 1_200, requests: 1_200 });
  // As after a commit whose answer was lost.
  requestLog.add(lines[0] as RequestLine);
  await requestLog.flush();
  assert.deepEqual(await counts(), { rows: 1_200, requests: 1_200 });
});

test('refusals of one key and minute are counted up in one row, also through an outage', async (t) => {
  const { link, counts, requestLog } = await open(t);
  const refused = { status: 429, errorCode: 'rate_limited', isRepeatable: true };
  for (let count = 0; count < 1_000; count++) requestLog.add(lineOf(refused));
  await requestLog.flush();
  assert.deepEqual(await counts(), { rows: 1, requests: 1_000 });
  await link.cut();
  requestLog.add(lineOf(refused));
  await assert.rejects(requestLog.flush(), DatabaseUnavailable);
  await link.restore();
  requestLog.add(lineOf(refused));
  clock.advance(60);
  requestLog.add(lineOf(refused));
  await requestLog.flush();
  assert.deepEqual(await counts(), { rows: 2, requests: 1_003 });
});

test('a line that the database refuses at any time does not hold up the others for ever', async (t) => {
  const { counts, requestLog, warnings } = await open(t);
  requestLog.add(lineOf({ model: 'a\0b' }));
  await requestLog.flush();
  assert.equal(warnings.length, 1);
  requestLog.add(lineOf());
  await requestLog.flush();
  assert.deepEqual(await counts(), { rows: 1, requests: 1 });
});

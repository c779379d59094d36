import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { Booth, CLIP, CLIP_PRICE, clipForm, earModel, entriesOf, MARKER, TRANSCRIPTIONS } from './support/booth.ts';
import { silentLog } from './support/database.ts';
import type { NewCaller } from './support/gateway.ts';
import { anotherKey, rowsOf } from './support/keeping.ts';
import { toldBy } from './support/media-studio.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';

const DAY = 24 * 3600;
const TEXT = 'Hello there. How are you?';

let booth: Booth;
let caller: NewCaller;
beforeEach(async () => {
  booth = new Booth();
  await booth.start();
  caller = await paidCaller(booth.gateway, 1000);
});
afterEach(async () => {
  await booth.gateway.assertBooksBalance();
  await booth.stop();
});

async function made(fields: Record<string, string> = {}): Promise<string> {
  return (await booth.heard(caller, clipForm(CLIP, fields))).headers['x-request-id'] ?? '';
}

/** Lets everything that is done now and then be done once. */
async function sweep(): Promise<void> {
  const { database, clock } = booth.gateway;
  await (await booth.another({ database, clock })).stop();
}

test('R-431, R-432, R-434, R-437, R-440: a completed record has its result, whatever form the answer had', async () => {
  const createdAt = Math.floor(booth.gateway.clock.nowMs() / 1000);
  for (const response_format of ['json', 'text', 'verbose_json']) {
    const id = await made({ response_format, language: 'en', 'timestamp_granularities[]': 'word' });
    const answer = await booth.read(caller, id);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    const { result, ...record } = answer.json;
    assert.deepEqual(record, {
      id,
      object: 'audio.transcription',
      model: 'booth/strict',
      status: 'completed',
      settlement_state: 'settled',
      created_at: createdAt,
      completed_at: createdAt,
      expires_at: createdAt + 30 * DAY,
    });
    const { words, ...rest } = result;
    const usage = { type: 'duration', seconds: 1.5, audio_seconds: 1.5, credits: CLIP_PRICE };
    assert.deepEqual(rest, { text: TEXT, language: 'en', duration: 1.5, usage });
    assert.deepEqual(words[0], { word: 'Hello', start: 0, end: 0.3 });
  }
});

test('R-437: what the upstream told of its own accord is kept, also when the answer did not show it', async () => {
  const { id, task, answer } = await booth.submitted(caller);
  booth.tasks.complete(task, { seconds: 1.5, language: 'de' });
  assert.deepEqual(Object.keys((await booth.answered(answer)).json), ['text', 'usage']);
  const { result } = (await booth.read(caller, id)).json;
  assert.deepEqual([result.language, result.duration, result.segments.length, result.words.length], ['de', 1.5, 2, 5]);
});

test('R-438: a record shows neither what the upstream said nor where the sound came from', async () => {
  const url = booth.target.at('127.0.0.1', '/private.wav?token=secret');
  booth.clips.set('/private.wav?token=secret', CLIP);
  const id = (await booth.heard(caller, { body: { model: 'booth/strict', url } })).headers['x-request-id'] ?? '';
  const { text } = await booth.read(caller, id);
  const [row] = await rowsOf(booth.gateway, 'select t::text from transcriptions t where id = $1', [id]);
  for (const told of [text, JSON.stringify(row)]) assert.doesNotMatch(told, new RegExp(`private|secret|${MARKER}`));
});

test('R-439: a record that waits answers 202 and says when to come back, sooner once it is being worked on', async () => {
  const db = openDb(booth.gateway.database.address, silentLog);
  await db.run(`create function wait_for_test() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$`);
  await db.run('create trigger wait before update on transcriptions for each row execute function wait_for_test()');
  // As long as this transaction lasts, no record can be changed.
  const { sent, pending } = await db.transaction(async (tx) => {
    await tx.rows('select pg_advisory_xact_lock(1)');
    const answer = booth.sent(caller, clipForm(CLIP, { model: 'booth/tasks' }));
    let row: { id: string } | undefined;
    while (row === undefined) [row] = await db.rows<{ id: string }>('select id from transcriptions');
    return { sent: { answer }, pending: await booth.read(caller, row.id) };
  });
  await db.close();
  assert.deepEqual([pending.status, pending.headers['retry-after']], [202, '5']);
  const { id, created_at, expires_at } = pending.json;
  assert.deepEqual(pending.json, {
    id,
    object: 'audio.transcription',
    model: 'booth/tasks',
    status: 'pending',
    settlement_state: 'pending',
    created_at,
    expires_at,
  });
  assert.equal((await booth.inState(caller, id, 'processing')).settlement_state, 'pending');
  const processing = await booth.read(caller, id);
  assert.deepEqual([processing.status, processing.headers['retry-after']], [202, '2']);
  await booth.pass(() => booth.tasks.tasks.length === 1);
  booth.tasks.complete(booth.tasks.tasks[0]?.id ?? '');
  assert.equal((await booth.answered(sent.answer)).status, 200);
});

test('R-441: a task that failed is a record that failed, answered with 200 and charged to nobody', async () => {
  const { id, task, answer } = await booth.submitted(caller);
  booth.tasks.fail(task);
  const told = await booth.answered(answer);
  assert.equal(told.headers['x-request-id'], id);
  const record = await booth.read(caller, id);
  assert.deepEqual([record.status, record.json.status, record.json.settlement_state], [200, 'failed', 'released']);
  assert.equal(record.json.error.code, told.json.error.code);
  assert.equal('result' in record.json, false);
  assert.deepEqual(await moneyOf(booth.gateway, caller), { available: 1000, reserved: 0, spent: 0 });
});

test('R-442: what nobody can know is a record that is unavailable, answered with 200', async () => {
  const { id, task, answer } = await booth.submitted(caller);
  booth.tasks.lose(task);
  assert.equal(toldBy(await booth.answered(answer)), '502 upstream_failed');
  const record = await booth.read(caller, id);
  assert.deepEqual([record.status, record.json.status, record.json.settlement_state], [200, 'unavailable', 'released']);
});

test('R-443, R-444, R-449: a result is there for thirty days, then neither it nor its text, and its money stays', async () => {
  const id = await made();
  const spent = await moneyOf(booth.gateway, caller);
  booth.gateway.clock.advance(30 * DAY - 1);
  await sweep();
  assert.equal((await booth.read(caller, id)).json.result.text, TEXT);
  booth.gateway.clock.advance(1);
  // Also before anybody has come to clear it.
  const before = await booth.read(caller, id);
  await sweep();
  const [row] = await rowsOf(booth.gateway, 'select status, result from transcriptions where id = $1', [id]);
  assert.deepEqual(row, { status: 'expired', result: null });
  const answer = await booth.read(caller, id);
  assert.deepEqual([answer.status, answer.json], [410, before.json]);
  const { error, ...record } = answer.json;
  assert.deepEqual([record.status, record.settlement_state, 'result' in record], ['expired', 'settled', false]);
  assert.deepEqual([error.code, error.type, error.param], ['transcription_expired', 'not_found_error', null]);
  assert.ok(error.message.length > 0);
  assert.deepEqual(await moneyOf(booth.gateway, caller), spent);
  const request = await booth.gateway.call('GET', `/v1/requests/${id}`, { key: caller.key });
  assert.deepEqual([request.status, request.json.credits], [200, CLIP_PRICE]);
});

test('R-436, R-449: what has failed does not expire', async () => {
  const { id, task, answer } = await booth.submitted(caller);
  booth.tasks.fail(task);
  await booth.answered(answer);
  booth.gateway.clock.advance(400 * DAY);
  await sweep();
  const record = await booth.read(caller, id);
  assert.deepEqual([record.status, record.json.status], [200, 'failed']);
});

for (const [days, seconds] of [
  ['-1', undefined],
  ['0', 0],
  ['2', 2 * DAY],
] as const) {
  test(`R-449: with ${days} days of retention a result is kept ${seconds ?? 'for ever'}${seconds === undefined ? '' : ' seconds'}`, async () => {
    const { database, clock } = booth.gateway;
    const other = await booth.another({ database, clock, settings: { TOLLGATE_TRANSCRIPT_DAYS: days } });
    const sent = await other.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
    await other.stop();
    assert.equal(sent.status, 200, sent.text);
    const id = sent.headers['x-request-id'] ?? '';
    if (seconds !== 0) clock.advance((seconds ?? 4000 * DAY) - 1);
    await sweep();
    const { status, json } = await booth.read(caller, id);
    assert.equal(status, seconds === 0 ? 410 : 200);
    assert.equal(json.expires_at, seconds === undefined ? undefined : json.created_at + seconds);
    clock.advance(1);
    assert.equal((await booth.read(caller, id)).status, seconds === undefined ? 200 : 410);
  });
}

test('R-445: a thousand readings ask no upstream and cost nothing', async () => {
  const { id: open, task, answer } = await booth.submitted(caller);
  const done = await made();
  const counts = async () => ({
    creations: booth.tasks.count('create'),
    recordings: booth.ear.requests.length,
    entries: await entriesOf(booth.gateway),
    money: await moneyOf(booth.gateway, caller),
  });
  const before = await counts();
  const reads = booth.tasks.count('read');
  for (let round = 0; round < 50; round++) {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => booth.read(caller, at % 2 ? open : done)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 202]));
    await Promise.all(Array.from({ length: 10 }, () => booth.read(caller, 'req_none')));
  }
  assert.deepEqual(await counts(), before);
  // The clock stood still, so nobody else asked after the task either.
  assert.equal(booth.tasks.count('read'), reads);
  booth.tasks.complete(task);
  await booth.answered(answer);
});

test('R-446: what is not there and what is somebody else’s are not told apart', async () => {
  const id = await made();
  const stranger = await paidCaller(booth.gateway);
  const [one, other] = [await booth.read(stranger, id), await booth.read(caller, 'req_000000000000000000000000')];
  assert.equal(toldBy(one), '404 transcription_not_found');
  assert.deepEqual([other.status, other.json], [one.status, one.json]);
  for (const odd of ['x', '%00', 'req_', 'a'.repeat(500)]) {
    assert.equal(toldBy(await booth.read(caller, odd)), '404 transcription_not_found');
  }
});

test('R-447: any key of the account that is valid now may read, and a deleted one may not', async () => {
  const id = await made();
  const other = await anotherKey(booth.gateway, caller);
  assert.equal((await booth.read(other, id)).status, 200);
  const deleted = await booth.gateway.admin('DELETE', `/keys/${caller.keyId}`);
  assert.ok(deleted.status < 300, deleted.text);
  assert.equal((await booth.read(caller, id)).status, 401);
  assert.equal((await booth.read(other, id)).json.result.text, TEXT);
});

test('R-448: a result stays readable when its model is gone and the groups of the key have changed', async () => {
  const id = await made();
  await booth.gateway.putConfig(booth.document([earModel('booth/open', ['open'])]));
  assert.equal((await booth.read(caller, id)).json.result.text, TEXT);
  const changed = await booth.gateway.admin('PATCH', `/accounts/${caller.accountId}`, { groups: ['elsewhere'] });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await booth.read(caller, id)).json.model, 'booth/strict');
});

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { Booth, CLIP, CLIP_PRICE, clipForm, entriesOf, TRANSCRIPTIONS } from './support/booth.ts';
import { silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { ADMIN_TOKEN, type Answer, type Gateway, type NewCaller } from './support/gateway.ts';
import { rowsOf } from './support/keeping.ts';
import { toldBy } from './support/media-studio.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { atEnd, until } from './support/postgres.ts';
import { ownDatabase, Program } from './support/program.ts';

const TEXT = 'Hello there. How are you?';
const LEASE_SECONDS = 30;
/** Sessions that look for abandoned records just now. */
const LOOKING = `select from pg_stat_activity where datname = current_database() and state = 'active'
  and query like 'with due as%'`;

let booth: Booth;
let caller: NewCaller;
/** The process that works, beside one that only reads. */
let worker: Gateway;
let link: DatabaseLink;
beforeEach(async () => {
  booth = new Booth();
  await booth.start();
  caller = await paidCaller(booth.gateway, 1000);
  link = await DatabaseLink.open(booth.gateway.database);
  worker = await started();
});
afterEach(async () => {
  await worker.stop(0);
  await booth.gateway.assertBooksBalance();
  await booth.stop();
  await link.cut();
});

/** One more process on the same database and clock. */
function started(): Promise<Gateway> {
  return booth.another({ database: link.database, clock: booth.gateway.clock });
}

const paid = { available: 1000 - CLIP_PRICE, reserved: 0, spent: CLIP_PRICE };
const free = { available: 1000, reserved: 0, spent: 0 };

/** The record as a caller sees it: its state and its money's. */
async function stateOf(id: string): Promise<string> {
  const { json } = await booth.read(caller, id);
  return `${json.status} ${json.settlement_state}`;
}

test('R-426, R-434, R-435: a task that outlives its process is followed by the next one to its end, and never submitted again', async () => {
  const { id, task, answer } = await booth.submitted(caller, worker);
  await worker.stop(0);
  await assert.rejects(answer);
  worker = await started();
  // Until it is known what became of it, nobody knows what it costs.
  await booth.pass(async () => (await stateOf(id)) === 'processing unknown');
  assert.deepEqual(await moneyOf(booth.gateway, caller), {
    available: 1000 - CLIP_PRICE,
    reserved: CLIP_PRICE,
    spent: 0,
  });
  booth.tasks.complete(task);
  const { settlement_state, result } = await booth.becomes(caller, id, 'completed');
  assert.deepEqual([settlement_state, result.text], ['settled', TEXT]);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
  assert.deepEqual([booth.tasks.count('upload'), booth.tasks.count('create')], [1, 1]);
  await booth.assertNothingStored();
});

test('R-426: a process that is killed leaves nothing but its record, and that is enough', async (t) => {
  const settings = {
    ...(await ownDatabase(t)),
    TOLLGATE_TEST_CLOCK: '1',
    TOLLGATE_FETCH_ALLOW: `127.0.0.1:${booth.target.port}`,
  };
  const admin = async (program: Program, path: string, body: unknown, method = 'POST') => {
    const answer = await program.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const killed = await Program.start(t, settings);
  await admin(killed, '/config', booth.document(), 'PUT');
  const account = (await admin(killed, '/accounts', { name: 'Test' })).id;
  await admin(killed, `/accounts/${account}/grants`, { credits: 1000 });
  const { key } = await admin(killed, `/accounts/${account}/keys`, { name: 'test' });
  booth.clips.set('/clip.wav', CLIP);
  const body = { model: 'booth/tasks', url: booth.target.at('127.0.0.1', '/clip.wav') };
  const answer = killed.call('POST', TRANSCRIPTIONS, { key, body });
  answer.catch(() => undefined);
  const open = async () => (await killed.get('/v1/credits/transactions', key)).json.data[0]?.request_id;
  await until(async () => booth.tasks.count('read') > 0 && (await open()) !== undefined);
  const id = await open();
  await killed.kill('SIGKILL');
  await assert.rejects(answer);
  const next = await Program.start(t, settings);
  const read = () => next.get(`${TRANSCRIPTIONS}/${id}`, key);
  assert.deepEqual([(await read()).json.status, (await read()).json.settlement_state], ['processing', 'pending']);
  booth.tasks.complete(booth.tasks.tasks[0]?.id ?? '');
  await admin(next, '/clock', { advance_seconds: LEASE_SECONDS + 1 });
  await until(async () => (await read()).json.status === 'completed');
  const { settlement_state, result } = (await read()).json;
  assert.deepEqual([settlement_state, result.text], ['settled', TEXT]);
  assert.equal((await next.get('/v1/credits', key)).json.spent, CLIP_PRICE);
  assert.equal(booth.tasks.count('create'), 1);
  const books = await next.get('/api/admin/books', ADMIN_TOKEN);
  assert.equal(books.json.balanced, true);
  atEnd(t, () => booth.clips.clear());
});

test('R-427: a call without a task cannot be taken up: its record becomes unavailable, with everything given back', async () => {
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  const answer = worker.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
  answer.catch(() => undefined);
  await until(() => booth.ear.recordings.length === 1);
  const [row] = await rowsOf<{ id: string }>(booth.gateway, 'select id from transcriptions');
  const id = row?.id ?? '';
  // Nobody can tell a process without its database from a dead one.
  await link.cut();
  booth.gateway.clock.advance(LEASE_SECONDS + 1);
  const other = await booth.another({ database: booth.gateway.database, clock: booth.gateway.clock });
  assert.equal((await booth.becomes(caller, id, 'unavailable')).settlement_state, 'released');
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
  const entries = await entriesOf(booth.gateway);
  // The first comes back with a transcript, and finds that it is too late.
  await link.restore();
  gate.resolve();
  const told = await answer;
  assert.equal(toldBy(told), '504 request_timeout');
  assert.match(told.headers.location ?? '', new RegExp(`/${id}$`));
  assert.equal(await stateOf(id), 'unavailable released');
  assert.deepEqual([await moneyOf(booth.gateway, caller), await entriesOf(booth.gateway)], [free, entries]);
  assert.equal(booth.ear.recordings.length, 1);
  await other.stop(0);
});

test('R-427: a process that must end gives back at once what nobody could take up', async () => {
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  const answer = worker.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
  answer.catch(() => undefined);
  await until(() => booth.ear.recordings.length === 1);
  await worker.stop(0);
  gate.resolve();
  const [row] = await rowsOf<{ id: string }>(booth.gateway, 'select id from transcriptions');
  assert.equal(await stateOf(row?.id ?? ''), 'unavailable released');
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
});

test('R-426: a process that stops while it asks after a task leaves the task to the next one', async () => {
  const gate = Promise.withResolvers<void>();
  booth.tasks.script('read', { kind: 'answer', after: () => gate.promise });
  const { id, task, answer } = await booth.submitted(caller, worker);
  answer.catch(() => undefined);
  await booth.pass(() => booth.tasks.count('read') === 1);
  await worker.stop(20_000);
  gate.resolve();
  assert.match(await stateOf(id), /^processing /);
  booth.tasks.complete(task);
  worker = await started();
  assert.equal((await booth.becomes(caller, id, 'completed')).result.text, TEXT);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
  assert.equal(booth.tasks.count('create'), 1);
});

test('a process that stops in time finishes what it has begun, also for a caller who left', async () => {
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  const answer = worker.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
  await until(() => booth.ear.recordings.length === 1);
  // The caller of a gateway that is told to stop leaves at once.
  const stopped = worker.stop(20_000);
  await assert.rejects(answer);
  gate.resolve();
  await stopped;
  const [row] = await rowsOf<{ id: string }>(booth.gateway, 'select id from transcriptions');
  assert.equal(await stateOf(row?.id ?? ''), 'completed settled');
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('R-427: a task that its upstream has lost, or whose upstream is gone, ends without a transcript', async () => {
  for (const vanish of [
    async (task: string) => booth.tasks.lose(task),
    async () => {
      const document = booth.document([]);
      const upstreams = (document.upstreams as { id: string }[]).filter(({ id }) => id !== 'tasks');
      await booth.gateway.putConfig({ ...document, upstreams });
    },
  ]) {
    const { id, task, answer } = await booth.submitted(caller, worker);
    await worker.stop(0);
    await assert.rejects(answer);
    await vanish(task);
    worker = await started();
    const { settlement_state, error } = await booth.becomes(caller, id, 'unavailable');
    assert.deepEqual([settlement_state, error.code], ['released', 'upstream_failed']);
    assert.deepEqual(await moneyOf(booth.gateway, caller), free);
  }
  assert.equal(booth.tasks.count('create'), 2);
});

test('R-427: a task that never ends is given up after an hour', async () => {
  const { id, answer } = await booth.submitted(caller, worker);
  const { clock } = booth.gateway;
  clock.advance(599);
  // The first to tire is the caller.
  assert.equal(toldBy(await booth.answered(answer)), '504 request_timeout');
  clock.advance(3600 - 603);
  assert.match(await stateOf(id), /^processing /);
  const { settlement_state, error } = await booth.becomes(caller, id, 'unavailable');
  assert.deepEqual([settlement_state, error.code], ['released', 'request_timeout']);
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
});

test('an upstream that cannot be asked for a while is asked again', async () => {
  const { task, answer } = await booth.submitted(caller, worker);
  booth.tasks.script(
    'read',
    { kind: 'status', status: 500 },
    { kind: 'status', status: 429 },
    { kind: 'fault', fault: 'reset' },
  );
  booth.tasks.complete(task);
  assert.equal((await booth.answered(answer)).json.text, TEXT);
  assert.ok(booth.tasks.count('read') >= 4);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('R-429: a task that brings more than 32 MiB is released', async () => {
  const { id, answer } = await booth.submitted(caller, worker);
  booth.tasks.script('read', { kind: 'raw', body: JSON.stringify({ text: 'x'.repeat(33 * 1024 * 1024) }) });
  assert.equal(toldBy(await booth.answered(answer)), '502 upstream_response_too_large');
  assert.equal(await stateOf(id), 'unavailable released');
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
});

test('an upstream that accepted a task without saying so is not asked for another', async () => {
  booth.tasks.script('create', { kind: 'fault', fault: 'reset after accept' });
  const answer = await worker.call('POST', TRANSCRIPTIONS, {
    ...clipForm(CLIP, { model: 'booth/tasks' }),
    key: caller.key,
  });
  assert.equal(toldBy(answer), '502 upstream_failed');
  assert.equal(booth.tasks.count('create'), 1);
  assert.equal(await stateOf(answer.headers['x-request-id'] ?? ''), 'unavailable released');
});

test('with its database away for a moment a process keeps what it heard, and saves it once', async () => {
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  const answer = worker.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
  await until(() => booth.ear.recordings.length === 1);
  await link.cut();
  gate.resolve();
  await until(async () => (await worker.call('GET', '/healthz')).status === 503);
  await link.restore();
  assert.equal((await answer).json.text, TEXT);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('a call that begins while a look for abandoned ones is under way stays in the hands that have it', async (t) => {
  const looking = async () => (await rowsOf(booth.gateway, LOOKING)).length > 0;
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  let answer: Promise<Answer> | undefined;
  const db = openDb(booth.gateway.database.address, silentLog);
  atEnd(t, () => db.close());
  await worker.stop(0);
  await db.transaction(async (tx) => {
    // The look waits for this table, the call does not.
    await tx.run('lock table reservation_owners in access exclusive mode');
    worker = await started();
    await until(looking);
    answer = worker.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
    await until(() => booth.ear.recordings.length === 1);
  });
  await until(async () => !(await looking()));
  gate.resolve();
  assert.equal((await answer)?.json.text, TEXT);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('several processes that come up at once follow a task once', async () => {
  const { id, task, answer } = await booth.submitted(caller, worker);
  await worker.stop(0);
  await assert.rejects(answer);
  const others = await Promise.all(Array.from({ length: 3 }, started));
  booth.tasks.complete(task);
  await booth.becomes(caller, id, 'completed');
  await Promise.all(others.map((other) => other.stop(0)));
  const [row] = await rowsOf(booth.gateway, 'select fence from transcriptions where id = $1', [id]);
  assert.deepEqual(row, { fence: 1 });
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
  worker = await started();
});

test('an admission whose answer was lost is found and given back by the process itself', async () => {
  link.holdAnswersTo(Buffer.from('commit\0'));
  const answer = worker.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP), key: caller.key });
  const open = () => rowsOf<{ id: string }>(booth.gateway, 'select id from transcriptions');
  await until(async () => link.isHolding && (await open()).length === 1);
  await link.cut();
  link.letGo();
  assert.equal(toldBy(await answer), '503 precheck_failed');
  await link.restore();
  const [row] = await open();
  await until(async () => (await stateOf(row?.id ?? '')) === 'unavailable released');
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
  assert.equal(booth.ear.recordings.length, 0);
  await booth.assertNothingStored();
});

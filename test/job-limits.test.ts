import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { silentLog } from './support/database.ts';
import { form } from './support/forms.ts';
import type { Answer, NewCaller } from './support/gateway.ts';
import { anotherKey, crowd, rowsOf, tracesOf } from './support/keeping.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, Studio } from './support/studio.ts';

const OPEN_MAX = 64;
const STEPS_AT_ONCE = 128;
const CREDITS = 100_000;
const NOTHING = { jobs: 0, reservations: 0, keys: 0, files: 0 };

let studio: Studio;
let caller: NewCaller;
beforeEach(async () => {
  // Tasks end only when they are told to.
  studio = new Studio();
  await studio.start();
  const edit = imageModel('studio/edit', [{ upstream: 'queue', model: 'fal-ai/flux-2/edit' }]);
  await studio.gateway.putConfig(studio.document({}, [edit]));
  caller = await crowd(studio.gateway, CREDITS);
});
afterEach(async () => {
  await studio.gateway.assertBooksBalance();
  await studio.stop();
});

const image = (more: object = {}) => ({ model: 'studio/queue', prompt: 'a gate', ...more });

function post(by: NewCaller, body: object = image(), headers: Record<string, string> = {}): Promise<Answer> {
  return studio.gateway.call('POST', IMAGES, { key: by.key, body, headers });
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], answer.text);
}

/** As many open jobs as an account may have. */
async function fill(by: NewCaller): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: OPEN_MAX }, () => post(by)));
  for (const answer of answers) assert.equal(answer.status, 202, answer.text);
  return answers.map(({ json }) => json.id);
}

test('R-064, R-503, R-505: of two hundred creates at once, under any of its keys, an account gets 64', async () => {
  const keys = [caller, await anotherKey(studio.gateway, caller, { concurrency: 1000 })];
  const answers = await Promise.all(Array.from({ length: 200 }, (_, place) => post(keys[place % 2] ?? caller)));
  const admitted = answers.filter(({ status }) => status === 202);
  assert.equal(admitted.length, OPEN_MAX);
  assert.equal(new Set(admitted.map(({ json }) => json.id)).size, OPEN_MAX);
  for (const answer of answers.filter(({ status }) => status !== 202)) {
    refused(answer, 429, 'media_open_job_capacity');
    assert.equal(answer.headers['retry-after'], '30');
  }
  assert.deepEqual(await tracesOf(studio.gateway, caller), { ...NOTHING, jobs: OPEN_MAX, reservations: OPEN_MAX });
  assert.equal((await moneyOf(studio.gateway, caller)).reserved, OPEN_MAX * IMAGE_PRICE);
  // Another account has places of its own.
  assert.equal((await post(await paidCaller(studio.gateway))).status, 202);
});

test('R-503: two processes together let in no more', async () => {
  const { database, clock } = studio.gateway;
  const other = await studio.another({ database, clock });
  try {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, place) =>
        (place % 2 === 0 ? studio.gateway : other).call('POST', IMAGES, { key: caller.key, body: image() }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 202).length, OPEN_MAX);
    assert.equal((await tracesOf(studio.gateway, caller)).jobs, OPEN_MAX);
  } finally {
    await other.stop();
  }
});

for (const [how, outcome] of [
  ['succeeds', { kind: 'success' }],
  ['fails', { kind: 'failure', error: 'unscheduled' }],
] as const) {
  test(`R-504: a job that ${how} leaves its place to one other`, async () => {
    studio.queue.outcome(...Array.from({ length: OPEN_MAX }, () => outcome));
    const ids = await fill(caller);
    await until(() => studio.queue.tasks.length === OPEN_MAX);
    refused(await post(caller), 429, 'media_open_job_capacity');
    studio.queue.tasks[0]?.advance('COMPLETED');
    await until(async () => {
      studio.gateway.clock.advance(0.1);
      const { json } = await studio.gateway.call('GET', '/v1/jobs?limit=100', { key: caller.key });
      return json.data.filter(({ status }: { status: string }) => status === 'running').length === ids.length - 1;
    });
    assert.equal((await post(caller)).status, 202);
    refused(await post(caller), 429, 'media_open_job_capacity');
  });
}

test('R-504: a job that expires leaves its place', async () => {
  const { upstreams, models } = studio.document() as { upstreams: object[]; models: object[] };
  const spare = { ...upstreams[0], id: 'spare' };
  const other = imageModel('studio/spare', [{ upstream: 'spare', model: 'fal-ai/flux/dev' }]);
  await studio.gateway.putConfig({ upstreams: [...upstreams, spare], models: [...models, other] });
  const unscheduled = { kind: 'error', error: 'unscheduled' } as const;
  studio.queue.script('submit', unscheduled, unscheduled);
  const late = (await post(caller)).json;
  await until(() => studio.queue.requests.length === 2);
  const disabled = { ...upstreams[0], enabled: false };
  await studio.gateway.putConfig({ upstreams: [disabled, spare], models: [models[0], other] });
  const onSpare = image({ model: 'studio/spare' });
  const others = await Promise.all(Array.from({ length: OPEN_MAX }, () => post(caller, onSpare)));
  assert.equal(others.filter(({ status }) => status === 202).length, OPEN_MAX - 1);
  refused(await post(caller, onSpare), 429, 'media_open_job_capacity');
  studio.gateway.clock.advance(601);
  assert.equal((await studio.ended(caller, late.id)).status, 'queue_expired');
  assert.equal((await post(caller, onSpare)).status, 202);
  refused(await post(caller, onSpare), 429, 'media_open_job_capacity');
});

test('R-505: a create that is refused leaves nothing, whatever it is refused for', async () => {
  const poor = await paidCaller(studio.gateway, 10 * IMAGE_PRICE - 1);
  for (const [status, code, body] of [
    [402, 'insufficient_credits', image({ n: 10 })],
    [400, 'missing_prompt', { model: 'studio/queue' }],
    [400, 'invalid_n', image({ n: 11 })],
    [404, 'model_not_found', image({ model: 'no/such' })],
  ] as const) {
    refused(await post(poor, body, { 'idempotency-key': 'refused' }), status, code);
  }
  assert.deepEqual(await tracesOf(studio.gateway, poor), NOTHING);
  assert.deepEqual(await moneyOf(studio.gateway, poor), { available: 399, reserved: 0, spent: 0 });
  assert.equal(studio.queue.requests.length, 0);
  await fill(caller);
  const before = await tracesOf(studio.gateway, caller);
  refused(await post(caller, image(), { 'idempotency-key': 'full' }), 429, 'media_open_job_capacity');
  assert.deepEqual(await tracesOf(studio.gateway, caller), before);
});

test('R-506: a replay needs no place', async () => {
  const headers = { 'idempotency-key': 'placed' };
  const { json } = await post(caller, image(), headers);
  const others = await Promise.all(Array.from({ length: OPEN_MAX }, () => post(caller)));
  assert.equal(others.filter(({ status }) => status === 202).length, OPEN_MAX - 1);
  const replay = await post(caller, image(), headers);
  assert.deepEqual([replay.status, replay.json.id], [202, json.id]);
});

test('R-506: replays and malformed creates count against the rate', async () => {
  const usual = await anotherKey(studio.gateway, caller, { rpm: 4 });
  const headers = { 'idempotency-key': 'rated' };
  assert.equal((await post(usual, image(), headers)).status, 202);
  assert.equal((await post(usual, image(), headers)).status, 202);
  refused(await post(usual, {}), 400, 'missing_model');
  assert.equal((await post(usual, image(), headers)).status, 202);
  refused(await post(usual, image(), headers), 429, 'rate_limited');
});

test('R-043, R-268, R-269: credits for five admit five of forty at once, and the rest leave nothing', async () => {
  const able = 5;
  const poor = await crowd(studio.gateway, able * IMAGE_PRICE + IMAGE_PRICE - 1);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, place) => post(poor, image(), { 'idempotency-key': `many-${place}` })),
  );
  const admitted = answers.filter(({ status }) => status === 202);
  assert.equal(admitted.length, able);
  for (const answer of answers.filter(({ status }) => status !== 202)) {
    refused(answer, 402, 'insufficient_credits');
    assert.equal(answer.headers['x-should-retry'], 'false');
  }
  assert.deepEqual(await tracesOf(studio.gateway, poor), { jobs: able, reservations: able, keys: able, files: 0 });
  const money = { available: IMAGE_PRICE - 1, reserved: able * IMAGE_PRICE, spent: 0 };
  assert.deepEqual(await moneyOf(studio.gateway, poor), money);
  await until(() => studio.queue.tasks.length === able);
});

for (const [name, able, admitted, code] of [
  ['credits for ten of 200', 10, 10, [402, 'insufficient_credits']],
  ['credits for exactly as many as there are places', OPEN_MAX, OPEN_MAX, [402, 'insufficient_credits']],
  ['credits for one more than there are places', OPEN_MAX + 1, OPEN_MAX, [429, 'media_open_job_capacity']],
] as const) {
  test(`R-274, R-044: ${name}: credits are judged before places, and the refused take none`, async () => {
    const poor = await crowd(studio.gateway, able * IMAGE_PRICE);
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(poor)));
    const [letIn, others] = [
      answers.filter(({ status }) => status === 202),
      answers.filter(({ status }) => status !== 202),
    ];
    assert.deepEqual([letIn.length, others.length], [admitted, 200 - admitted]);
    for (const answer of others) refused(answer, code[0], code[1]);
    assert.deepEqual(await tracesOf(studio.gateway, poor), { ...NOTHING, jobs: admitted, reservations: admitted });
    const money = { available: (able - admitted) * IMAGE_PRICE, reserved: admitted * IMAGE_PRICE, spent: 0 };
    assert.deepEqual(await moneyOf(studio.gateway, poor), money);
  });
}

test('R-044: with every place taken, what the credits or the key do not cover is 402 and the rest 429', async () => {
  const poor = await crowd(studio.gateway, (OPEN_MAX + 2) * IMAGE_PRICE);
  await fill(poor);
  const capped = await anotherKey(studio.gateway, poor, { credit_limit: IMAGE_PRICE, concurrency: 1000 });
  const asked = [
    [poor, 1, 429],
    [poor, 2, 429],
    [poor, 3, 402],
    [poor, 10, 402],
    [capped, 1, 429],
    [capped, 2, 402],
  ] as const;
  const answers = await Promise.all(
    asked.flatMap(([by, n]) => Array.from({ length: 5 }, () => post(by, image({ n })))),
  );
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(
    statuses,
    asked.flatMap(([, , status]) => Array.from({ length: 5 }, () => status)),
  );
  assert.deepEqual((await moneyOf(studio.gateway, poor)).available, 2 * IMAGE_PRICE);
});

test('R-274: an account whose lock is not given in time delays a create and does not refuse it', async () => {
  const db = openDb(studio.gateway.database.address, silentLog);
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = db.transaction(async (tx) => {
    await tx.rows('select from balances where account_id = $1 for update', [caller.accountId]);
    locked.resolve();
    await release.promise;
  });
  // The server ends a transaction that stands still; then the lock is free as well.
  const held = holder.catch(() => undefined);
  await locked.promise;
  const answer = post(caller);
  const waiting = async () => {
    const [row] = await rowsOf<{ began: Date | null }>(
      studio.gateway,
      `select min(xact_start) as began from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return row?.began?.getTime();
  };
  await until(async () => (await waiting()) !== undefined);
  const first = await waiting();
  // Its lock timeout has ended the first transaction, and the next one waits.
  await until(async () => ![first, undefined].includes(await waiting()));
  release.resolve();
  assert.equal((await answer).status, 202);
  await held;
  await db.close();
});

test('R-268: what is held is settled when the job has ended', async () => {
  const { json } = await post(caller, image({ n: 2 }));
  assert.equal((await moneyOf(studio.gateway, caller)).reserved, 2 * IMAGE_PRICE);
  await studio.inState(caller, json.id, 'running');
  for (const task of studio.queue.tasks) task.advance('COMPLETED');
  assert.equal((await studio.ended(caller, json.id)).status, 'succeeded');
  const spent = 2 * IMAGE_PRICE;
  assert.deepEqual(await moneyOf(studio.gateway, caller), { available: CREDITS - spent, reserved: 0, spent });
});

test('R-508: a field of a form has 64 KiB at most, and a form 64 parts', async () => {
  const edit = (prompt: string, more: number) =>
    form([
      { name: 'model', value: 'studio/edit' },
      { name: 'prompt', value: prompt },
      { name: 'image', fileName: 'gate.png', bytes: smallPng() },
      ...Array.from({ length: more }, (_, place) => ({ name: `field_${place}`, value: 'x' })),
    ]);
  const send = (sent: ReturnType<typeof form>) =>
    studio.gateway.call('POST', '/v1/images/edits', { key: caller.key, raw: sent.raw, headers: sent.headers });
  assert.equal((await send(edit('x'.repeat(64 * 1024), 0))).status, 202);
  refused(await send(edit('x'.repeat(64 * 1024 + 1), 0)), 413, 'form_field_too_large');
  refused(await send(edit(`${'x'.repeat(64 * 1024 - 1)}é`, 0)), 413, 'form_field_too_large');
  assert.equal((await send(edit('a gate', 61))).status, 202);
  refused(await send(edit('a gate', 62)), 400, 'invalid_multipart');
  assert.equal((await tracesOf(studio.gateway, caller)).jobs, 2);
});

test('R-493: the probe counts the jobs that are due and that nobody has taken', async () => {
  const hold = Promise.withResolvers<void>();
  const many = 3 * OPEN_MAX;
  studio.queue.script(
    'submit',
    ...Array.from({ length: many }, () => ({ kind: 'slow', until: hold.promise }) as const),
  );
  for (let account = 0; account < 3; account++) await fill(await crowd(studio.gateway, CREDITS));
  const pending = async () => (await studio.gateway.call('GET', '/healthz')).json.outbox_pending;
  await until(async () => (await pending()) === many - STEPS_AT_ONCE);
  hold.resolve();
  await until(async () => (await pending()) === 0);
  await until(() => studio.queue.tasks.length === many);
});

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { form } from './support/forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { objectFolder, rowsOf, storedFiles, sweep, tracesOf } from './support/keeping.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGES, imageModel, Studio } from './support/studio.ts';

const EDITS = '/v1/images/edits';
const [HOUR, DAY] = [3600, 24 * 3600];
const EDIT_MODEL = imageModel('studio/edit', [{ upstream: 'queue', model: 'fal-ai/flux-2/edit' }]);

let studio: Studio;
let caller: NewCaller;
beforeEach(async () => {
  studio = new Studio({ readsUntilDone: 1 });
  await studio.start();
  await studio.gateway.putConfig(studio.document({}, [EDIT_MODEL]));
  caller = await paidCaller(studio.gateway);
});
afterEach(async () => {
  await studio.gateway.assertBooksBalance();
  await studio.stop();
});

const image = { model: 'studio/queue', prompt: 'a gate' };
const get = (path: string) => studio.gateway.call('GET', path, { key: caller.key });
const objectsIn = (gateway: Studio['gateway']) => storedFiles(gateway).filter((path) => !path.includes('unfinished'));

async function made(headers: Record<string, string> = {}): Promise<string> {
  const { id } = await studio.create(caller, IMAGES, image, headers);
  assert.equal((await studio.ended(caller, id)).status, 'succeeded');
  return id;
}

/** Time passes until this long after the second in which the job ended. */
async function passSince(id: string, seconds: number): Promise<void> {
  const { finished_at } = await studio.read(caller, id);
  studio.gateway.clock.advance(finished_at + seconds - studio.gateway.clock.nowMs() / 1000);
}

/** What the probe says, once what it remembers is not older than this question. */
async function untilHealth(is: (health: { cleanup_pending: number; cleanup_oldest_due_age_s: number }) => boolean) {
  await until(async () => is((await studio.gateway.call('GET', '/healthz')).json));
}

/** Makes the only object in the store one that cannot be deleted. Returns what gives it back. */
function stuck(): () => void {
  const [path = ''] = objectsIn(studio.gateway);
  rmSync(path);
  mkdirSync(path);
  return () => {
    rmdirSync(path);
    writeFileSync(path, smallPng());
  };
}

test('R-202, R-228: results are there for thirty days, and then neither they nor their links', async () => {
  const id = await made();
  await passSince(id, 30 * DAY - HOUR);
  await sweep(studio);
  const [asset] = await studio.assets(caller, id);
  assert.equal((await studio.fetched(asset.url)).status, 200);
  await passSince(id, 30 * DAY - 60);
  const [last] = await studio.assets(caller, id);
  await passSince(id, 30 * DAY + 1);
  // Also before anybody has come to delete them.
  const answer = await get(`/v1/jobs/${id}/assets`);
  assert.deepEqual([answer.status, answer.json], [200, { items: [] }]);
  const content = await get(`/v1/audio/music/${id}/content`);
  assert.deepEqual([content.status, content.json.error.code], [404, 'job_not_found']);
  await sweep(studio);
  assert.deepEqual(objectsIn(studio.gateway), []);
  assert.equal((await studio.fetched(last.url)).status, 404);
  assert.deepEqual((await get(`/v1/jobs/${id}/assets`)).json, { items: [] });
  assert.equal((await studio.read(caller, id)).status, 'succeeded');
});

test('R-202: a link made in the last minute gives nothing once the thirty days are over', async () => {
  const id = await made();
  await passSince(id, 30 * DAY - 60);
  const [last] = await studio.assets(caller, id);
  await passSince(id, 30 * DAY + 1);
  await sweep(studio);
  assert.equal((await studio.fetched(last.url)).status, 404);
});

test('R-493: the probe tells how much has to go, and for how long', async () => {
  const id = await made();
  await untilHealth(
    ({ cleanup_pending, cleanup_oldest_due_age_s }) => cleanup_pending + cleanup_oldest_due_age_s === 0,
  );
  const free = stuck();
  await passSince(id, 30 * DAY - 1);
  await sweep(studio);
  await untilHealth(({ cleanup_pending }) => cleanup_pending === 0);
  await passSince(id, 30 * DAY + 90);
  await sweep(studio);
  await untilHealth(
    ({ cleanup_pending, cleanup_oldest_due_age_s }) =>
      cleanup_pending === 1 && Math.ceil(cleanup_oldest_due_age_s) === 90,
  );
  free();
  await sweep(studio);
  await untilHealth(
    ({ cleanup_pending, cleanup_oldest_due_age_s }) => cleanup_pending + cleanup_oldest_due_age_s === 0,
  );
});

test('what a job was given goes when it has ended, whether it brought something or not', async () => {
  for (const outcome of [{ kind: 'success' }, { kind: 'failure', error: 'unscheduled' }] as const) {
    studio.queue.outcome(outcome);
    const parts = [
      { name: 'model', value: 'studio/edit' },
      { name: 'prompt', value: 'a gate' },
      { name: 'image', fileName: 'gate.png', bytes: smallPng(5) },
    ];
    const answer = await studio.gateway.call('POST', EDITS, { key: caller.key, ...form(parts) });
    assert.equal(answer.status, 202, answer.text);
    const inputs = () => objectsIn(studio.gateway).filter((path) => path.includes('inputs.'));
    assert.equal(inputs().length, 1);
    await sweep(studio);
    assert.equal(inputs().length, 1);
    await studio.ended(caller, answer.json.id);
    await sweep(studio);
    assert.deepEqual(inputs(), []);
  }
});

test('R-505: what came with a refused request goes', async () => {
  const picture = { name: 'image', fileName: 'gate.png', bytes: smallPng(5) };
  for (const [parts, code] of [
    [[picture, { name: 'model', value: 'no/such' }, { name: 'prompt', value: 'a gate' }], 'model_not_found'],
    [[picture, { name: 'prompt', value: 'a gate' }], 'missing_model'],
    [
      [picture, { name: 'model', value: 'studio/edit' }, { name: 'other', fileName: 'x', bytes: smallPng() }],
      'unexpected_file',
    ],
    [[picture, { name: 'image', fileName: 'x.png', bytes: Buffer.from('no picture') }], 'unsupported_image_format'],
  ] as const) {
    const answer = await studio.gateway.call('POST', EDITS, { key: caller.key, ...form(parts) });
    assert.equal(answer.json.error.code, code);
  }
  await sweep(studio);
  // What was still being stored when the request was refused has no owner to say so, and goes after an hour.
  studio.gateway.clock.advance(HOUR);
  await sweep(studio);
  assert.deepEqual(storedFiles(studio.gateway), []);
  assert.deepEqual(await rowsOf(studio.gateway, 'select key from stored_objects'), []);
  assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000, reserved: 0, spent: 0 });
  assert.deepEqual(await tracesOf(studio.gateway, caller), { jobs: 0, reservations: 0, keys: 0, files: 0 });
});

test('what cannot be deleted keeps nothing else, and is deleted when it can be', async () => {
  const id = await made();
  const free = stuck();
  await passSince(id, 31 * DAY);
  // More than one turn of the clean-up takes, all of them younger than what is stuck.
  await rowsOf(
    studio.gateway,
    `insert into stored_objects (key, account_id, mime_type, bytes, delete_at)
     select 'outputs/old' || place, $1, 'image/png', 1, $2 from generate_series(1, 350) as place`,
    [caller.accountId, studio.gateway.clock.now()],
  );
  await sweep(studio);
  const left = await rowsOf<{ key: string }>(studio.gateway, 'select key from stored_objects');
  assert.equal(left.length, 1);
  assert.equal(objectsIn(studio.gateway).length, 1);
  free();
  await sweep(studio);
  assert.deepEqual(objectsIn(studio.gateway), []);
  assert.deepEqual(await rowsOf(studio.gateway, 'select key from stored_objects'), []);
});

test('with the store away nothing is taken for deleted', async () => {
  const timed = new Studio({ readsUntilDone: 1 });
  await timed.start({ settings: { TOLLGATE_TEST_CLOCK: '1' } });
  const { gateway } = timed;
  const owner = await paidCaller(gateway);
  const { id } = await timed.create(owner, IMAGES, image);
  await timed.inState(owner, id, 'succeeded');
  const folder = objectFolder(gateway);
  renameSync(folder, `${folder}-away`);
  // An empty folder in its place, as where a disk is not mounted.
  mkdirSync(folder);
  // A move of this clock does everything that became due.
  await gateway.admin('POST', '/clock', { advance_seconds: 31 * DAY });
  assert.equal((await rowsOf(gateway, 'select key from stored_objects')).length, 1);
  rmdirSync(folder);
  renameSync(`${folder}-away`, folder);
  assert.equal(objectsIn(gateway).length, 1);
  await gateway.admin('POST', '/clock', { advance_seconds: 1 });
  assert.deepEqual([objectsIn(gateway), await rowsOf(gateway, 'select key from stored_objects')], [[], []]);
  await gateway.assertBooksBalance();
  await timed.stop();
});

test('R-264: a fingerprint is kept as long as the results are, and then forgotten', async () => {
  const key = { 'idempotency-key': 'kept' };
  const id = await made(key);
  await passSince(id, 30 * DAY);
  await sweep(studio);
  assert.equal((await studio.create(caller, IMAGES, image, key)).id, id);
  await passSince(id, 31 * DAY + 1);
  await sweep(studio);
  assert.deepEqual((await tracesOf(studio.gateway, caller)).keys, 0);
  const next = await studio.create(caller, IMAGES, image, key);
  assert.notEqual(next.id, id);
  await studio.ended(caller, next.id);
});

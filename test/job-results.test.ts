import assert from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { Secret } from '../src/config.ts';
import { outputKey } from '../src/jobs/output-keys.ts';
import { JOB_LEASE_MS, OUTPUT_BYTES_MAX, UNOWNED_KEPT_MS } from '../src/limits.ts';
import { FolderStore } from '../src/storage/index.ts';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import type { NewCaller } from './support/gateway.ts';
import { objectFolder, rowsOf, storedFiles, sweep } from './support/keeping.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, Studio } from './support/studio.ts';

const TRIES_MAX = 3;
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const PAID = { available: 1000 - IMAGE_PRICE, reserved: 0, spent: IMAGE_PRICE };

let studio: Studio;
let caller: NewCaller;
let failures: number;
beforeEach(async () => {
  failures = 0;
  const count = (line: string) => {
    if (line.includes('a result was not collected')) failures++;
  };
  const log = pino({ level: 'warn' }, { write: count });
  studio = new Studio({ readsUntilDone: 1 });
  await studio.start({ log });
  const { upstreams, models } = studio.document() as { upstreams: object[]; models: object[] };
  const here = imageModel('studio/here', [{ upstream: 'here', model: 'image' }]);
  await studio.gateway.putConfig({
    upstreams: [...upstreams, { id: 'here', vendor: 'sandbox' }],
    models: [...models, here],
  });
  caller = await paidCaller(studio.gateway);
});
afterEach(async () => {
  await studio.gateway.assertBooksBalance();
  await studio.stop();
});

/** A disk that is not mounted. Returns what mounts it again. */
function takeStoreAway(): () => void {
  const drafts = join(objectFolder(studio.gateway), 'unfinished');
  renameSync(drafts, `${drafts}-away`);
  return () => {
    if (existsSync(`${drafts}-away`)) renameSync(`${drafts}-away`, drafts);
  };
}

const create = (model: string) => studio.create(caller, IMAGES, { model, prompt: 'a gate' });

/** How long the job waits for its next step; undefined while a worker has it: it is due when the lease ends then. */
async function waitsForMs(): Promise<number | undefined> {
  const [job] = await rowsOf<{ due_at: Date }>(studio.gateway, 'select due_at from open_jobs');
  const dueInMs = (job?.due_at.getTime() ?? 0) - studio.gateway.clock.nowMs();
  return dueInMs > 0 && dueInMs !== JOB_LEASE_MS ? dueInMs : undefined;
}

/** Moves the clock from step to step of the job until it is so, and never while a worker has it, whose lease would end. */
function step(isSo: () => boolean): Promise<void> {
  return until(async () => {
    if (isSo()) return true;
    studio.gateway.clock.advance(((await waitsForMs()) ?? 0) / 1000);
    return false;
  });
}

/** Lets time pass until so many tries to keep the result have failed. */
const failedTries = (count: number) => step(() => failures >= count);

/** Lets so much time pass, eleven minutes at a time, with a try at the end of each that fails. */
async function away(times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await until(async () => (await waitsForMs()) !== undefined);
    const before = failures;
    studio.gateway.clock.advance(11 * 60);
    await until(() => failures > before);
  }
}

for (const [how, model] of [
  ['lies at an address', 'studio/queue'],
  ['comes with each answer', 'studio/here'],
] as const) {
  describe(`a result that ${how}, while the store is away`, () => {
    test('is kept when the store is back within the hour, and no upstream is blamed', async () => {
      const bringBack = takeStoreAway();
      const { id } = await create(model);
      await failedTries(1);
      await away(5);
      assert.equal((await studio.read(caller, id)).status, 'running');
      bringBack();
      const ended = await studio.ended(caller, id, 1);
      assert.equal(ended.status, 'succeeded', JSON.stringify(ended));
      assert.deepEqual(await moneyOf(studio.gateway, caller), PAID);
      const { data } = (await studio.gateway.admin('GET', '/upstreams')).json;
      assert.ok(
        data.every(({ health }: { health: { last_fault: unknown } }) => health.last_fault == null),
        JSON.stringify(data),
      );
    });

    test('is given up after an hour as a fault of our own, with everything given back', async () => {
      const bringBack = takeStoreAway();
      const { id } = await create(model);
      await failedTries(1);
      const ended = await studio.ended(caller, id, 30);
      bringBack();
      assert.deepEqual([ended.status, ended.error_code], ['failed', 'internal_error']);
      assert.ok(ended.finished_at - ended.created_at >= 3600, JSON.stringify(ended));
      assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
    });
  });
}

describe('a result that came with the only answer there will be, while the store is away', () => {
  test('is held until the store is back, and asked for once', async () => {
    const bringBack = takeStoreAway();
    const { id } = await create('studio/direct');
    await until(() => failures >= 6);
    studio.gateway.clock.advance(3500);
    bringBack();
    await studio.inState(caller, id, 'succeeded');
    assert.equal(studio.direct.submissions.length, 1);
    assert.deepEqual(await moneyOf(studio.gateway, caller), PAID);
  });

  test('is given up after an hour, with everything given back', async () => {
    const bringBack = takeStoreAway();
    const { id } = await create('studio/direct');
    await until(() => failures >= 1);
    studio.gateway.clock.advance(3601);
    const ended = await studio.inState(caller, id, 'failed');
    bringBack();
    assert.deepEqual([ended.error_code, ended.usage], ['internal_error', { credits: 0 }]);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });
});

describe('a result that cannot be used', () => {
  const fetches = () => studio.queue.files.requests.length;
  const resultAt = (url: string) =>
    studio.queue.outcome({ kind: 'success', change: () => ({ images: [{ url, content_type: 'image/png' }] }) });

  for (const [name, add] of [
    ['announced above its cap', () => studio.queue.files.add('large', smallPng(), 'image/png', OUTPUT_BYTES_MAX + 1)],
    ['that is no picture', () => studio.queue.files.add('text', Buffer.from('no picture'), 'image/png')],
    ['that is cut off', () => studio.queue.files.add('cut', smallPng().subarray(0, 20), 'image/png')],
  ] as const) {
    test(`an output ${name} is fetched three times, and then the job fails`, async () => {
      resultAt(add());
      const { id } = await create('studio/queue');
      const ended = await studio.ended(caller, id, 1);
      assert.deepEqual([ended.status, ended.error_code], ['failed', 'undeliverable_output']);
      assert.equal(fetches(), TRIES_MAX);
      assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
    });
  }

  test('what a process that lost its lease stores after the job has failed is deleted in the end', async () => {
    resultAt(studio.queue.files.add('text', Buffer.from('no picture'), 'image/png'));
    const { id } = await create('studio/queue');
    assert.equal((await studio.ended(caller, id, 1)).status, 'failed');
    await sweep(studio);
    const folder = objectFolder(studio.gateway);
    const rootSecret = new Secret('of a process that signs no link');
    const lateStore = await FolderStore.open({ folder, publicUrl: studio.gateway.url, rootSecret });
    const [attempt] = await rowsOf<{ number: number }>(studio.gateway, 'select number from job_attempts');
    await lateStore.put(outputKey(id, attempt?.number ?? -1, 0), smallPng(), {
      mimeType: 'image/png',
      bytesMax: OUTPUT_BYTES_MAX,
    });
    assert.equal(storedFiles(studio.gateway).length, 1);
    studio.gateway.clock.advance(UNOWNED_KEPT_MS / 1000);
    await sweep(studio);
    assert.deepEqual(storedFiles(studio.gateway), []);
  });

  test('an output that is right at the third try is delivered', async () => {
    resultAt(studio.queue.files.add('late', Buffer.from('not yet'), 'image/png'));
    const { id } = await create('studio/queue');
    await failedTries(TRIES_MAX - 1);
    studio.queue.files.add('late', smallPng(), 'image/png');
    assert.equal((await studio.ended(caller, id, 1)).status, 'succeeded');
    assert.deepEqual(await moneyOf(studio.gateway, caller), PAID);
  });

  const GARBLED = { kind: 'raw', body: '<html>' } as const;
  const resultReads = () => studio.queue.requests.filter(({ step }) => step === 'result').length;

  const readResult = (times: number) => step(() => resultReads() >= times);

  test('an answer that stays garbled is asked for three times, and then the job fails', async () => {
    studio.queue.script('result', ...Array.from({ length: 10 }, () => GARBLED));
    const { id } = await create('studio/queue');
    await readResult(TRIES_MAX);
    const ended = await studio.inState(caller, id, 'failed');
    assert.equal(ended.error_code, 'upstream_failed');
    assert.equal(resultReads(), TRIES_MAX);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('an answer that is garbled twice and then whole is delivered', async () => {
    studio.queue.script('result', ...Array.from({ length: TRIES_MAX - 1 }, () => GARBLED));
    const { id } = await create('studio/queue');
    await readResult(TRIES_MAX);
    await studio.inState(caller, id, 'succeeded');
    assert.deepEqual(await moneyOf(studio.gateway, caller), PAID);
  });
});

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, IMAGES, Studio } from './support/studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const studio = new Studio({ readsUntilDone: 2 });
before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  await studio.gateway.putConfig(studio.document());
  // Breakers that a test before opened let requests through again.
  studio.gateway.clock.advance(3600);
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

const asked = (model: string, more: object = {}) => ({ model, prompt: 'a gate', ...more });

const UNSCHEDULED = { kind: 'error', error: 'unscheduled' } as const;

/** The upstream has refused something, and the gateway knows. */
async function refusedByQueue(): Promise<void> {
  await until(async () => {
    const { last_fault_at } = (await upstreamHealth(studio.gateway, 'queue')).model;
    return last_fault_at === Math.floor(studio.gateway.clock.nowMs() / 1000);
  });
}

describe('a job that succeeds', () => {
  test('R-183 to R-194, R-197: it is queued with its credits held', async () => {
    await studio.gateway.putConfig(studio.document({ queue: { enabled: true, timeout_seconds: 5 } }));
    const hold = Promise.withResolvers<void>();
    studio.queue.script('submit', { kind: 'slow', until: hold.promise });
    const job = await studio.create(caller, IMAGES, asked('studio/queue', { n: 3 }));
    const now = Math.floor(studio.gateway.clock.nowMs() / 1000);
    assert.match(job.id, /^job_[A-Za-z0-9_-]{10,64}$/);
    const { id: _id, ...rest } = job;
    assert.deepEqual(rest, {
      object: 'job',
      status: 'queued',
      kind: 'image',
      model: 'studio/queue',
      progress: 0,
      created_at: now,
      dispatch_deadline_at: now + 600,
    });
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 880, reserved: 120, spent: 0 });
    hold.resolve();
    await studio.ended(caller, job.id);
  });

  test('R-198, R-199, R-200, R-372, R-194: accepted, made, stored, paid for', async () => {
    const job = await studio.create(caller, IMAGES, asked('studio/queue', { n: 3 }));
    const running = await studio.inState(caller, job.id, 'running');
    assert.equal(running.updated_at, running.created_at);
    for (const name of ['finished_at', 'error_code', 'error', 'usage']) assert.equal(name in running, false, name);
    const ended = await studio.ended(caller, job.id);
    assert.deepEqual([ended.status, ended.progress], ['succeeded', 100]);
    assert.deepEqual(ended.usage, { credits: 3 * IMAGE_PRICE });
    assert.equal('error_code' in ended || 'error' in ended, false);
    assert.ok(ended.finished_at >= ended.created_at);
    const assets = await studio.assets(caller, job.id);
    assert.deepEqual(
      assets.map(({ ordinal }) => ordinal),
      [0, 1, 2],
    );
    for (const asset of assets) {
      const { status, bytes } = await studio.fetched(asset.url);
      assert.deepEqual([status, bytes.length], [200, asset.bytes]);
    }
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 880, reserved: 0, spent: 120 });
  });

  test('R-201, R-234: what is not delivered is not charged, and the ordinals have no gap', async () => {
    studio.direct.script({ kind: 'pictures', count: 2 });
    const job = await studio.create(caller, IMAGES, asked('studio/direct', { n: 3 }));
    const ended = await studio.ended(caller, job.id);
    assert.deepEqual([ended.status, ended.usage], ['succeeded', { credits: 2 * IMAGE_PRICE }]);
    assert.deepEqual(
      (await studio.assets(caller, job.id)).map(({ ordinal }) => ordinal),
      [0, 1],
    );
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 920, reserved: 0, spent: 80 });
  });

  test('more pictures than one call can bring are made by several', async () => {
    const before = studio.queue.tasks.length;
    const job = await studio.create(caller, IMAGES, asked('studio/queue', { n: 10 }));
    const ended = await studio.ended(caller, job.id);
    assert.equal(ended.status, 'succeeded');
    assert.deepEqual(
      studio.queue.tasks.slice(before).map(({ input }) => input.num_images),
      [4, 4, 2],
    );
    assert.equal((await studio.assets(caller, job.id)).length, 10);
  });

  test('R-186: the model is the one that was asked for, whoever made it', async () => {
    const job = await studio.create(caller, IMAGES, asked('studio/both'));
    assert.equal((await studio.ended(caller, job.id)).model, 'studio/both');
  });

  test('R-187: the progress never goes back', async () => {
    const job = await studio.create(caller, IMAGES, asked('studio/queue', { n: 5 }));
    let last = 0;
    for (let status = 'queued'; status !== 'succeeded'; ) {
      const read = await studio.read(caller, job.id);
      assert.ok(read.progress >= last && read.progress <= 100);
      ({ progress: last, status } = read);
      studio.gateway.clock.advance(0.2);
    }
    assert.equal(last, 100);
  });

  test('R-210: accepted in the last second, it may run past the deadline', async () => {
    studio.queue.script('submit', UNSCHEDULED, UNSCHEDULED);
    const job = await studio.create(caller, IMAGES, asked('studio/queue'));
    await refusedByQueue();
    await studio.gateway.putConfig(studio.document({ queue: { enabled: false } }));
    studio.gateway.clock.advance(598);
    await studio.gateway.putConfig(studio.document());
    studio.gateway.clock.advance(1);
    await studio.inState(caller, job.id, 'running');
    studio.gateway.clock.advance(60);
    assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
  });
});

describe('a job that brings nothing', () => {
  test('R-203, R-204: an upstream that fails gives everything back', async () => {
    studio.queue.outcome({ kind: 'failure', error: 'unscheduled' });
    const job = await studio.create(caller, IMAGES, asked('studio/queue'));
    const ended = await studio.ended(caller, job.id);
    assert.deepEqual([ended.status, ended.error_code, ended.usage], ['failed', 'upstream_failed', { credits: 0 }]);
    assert.equal(typeof ended.error, 'string');
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('R-205: an upstream that refuses it for good fails it at once', async () => {
    studio.direct.script({ kind: 'error', error: 'policy' });
    const job = await studio.create(caller, IMAGES, asked('studio/direct'));
    const ended = await studio.ended(caller, job.id);
    assert.deepEqual([ended.status, ended.error_code], ['failed', 'content_rejected']);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('R-206: what nobody takes in ten minutes expires, with everything given back', async () => {
    studio.queue.script('submit', UNSCHEDULED, UNSCHEDULED);
    const job = await studio.create(caller, IMAGES, asked('studio/queue'));
    await refusedByQueue();
    await studio.gateway.putConfig(studio.document({ queue: { enabled: false } }));
    studio.gateway.clock.advance(599);
    assert.equal((await studio.read(caller, job.id)).status, 'queued');
    const ended = await studio.ended(caller, job.id, 1);
    assert.deepEqual([ended.status, ended.error_code, ended.usage], ['queue_expired', 'queue_expired', { credits: 0 }]);
    assert.ok(ended.finished_at >= ended.dispatch_deadline_at);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('R-213: an upstream that never finishes is given up', async () => {
    const patient = new Studio();
    await patient.start();
    const owner = await paidCaller(patient.gateway);
    const job = await patient.create(owner, IMAGES, asked('studio/queue'));
    await patient.inState(owner, job.id, 'running');
    patient.gateway.clock.advance(899);
    assert.equal((await patient.read(owner, job.id)).status, 'running');
    const ended = await patient.ended(owner, job.id, 1);
    assert.deepEqual([ended.status, ended.error_code], ['failed', 'upstream_timeout']);
    assert.deepEqual(await moneyOf(patient.gateway, owner), UNTOUCHED);
    await patient.gateway.assertBooksBalance();
    await patient.stop();
  });

  test('R-203, R-212: something that is no picture cannot be delivered', async () => {
    studio.queue.outcome({
      kind: 'success',
      change: () => ({ images: [{ url: `${studio.queue.files.url}/files/none` }] }),
    });
    const job = await studio.create(caller, IMAGES, asked('studio/queue'));
    await studio.inState(caller, job.id, 'running');
    const ended = await studio.ended(caller, job.id, 1);
    assert.deepEqual([ended.status, ended.error_code], ['failed', 'undeliverable_output']);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('R-215, R-517: a submission whose answer was lost is not made again', async () => {
    await studio.gateway.putConfig(studio.document({ queue: { priority: 10 } }));
    const [before, elsewhere] = [studio.queue.tasks.length, studio.direct.submissions.length];
    studio.queue.script('submit', { kind: 'fault', fault: 'reset after acceptance' });
    const job = await studio.create(caller, IMAGES, asked('studio/both'));
    const ended = await studio.ended(caller, job.id);
    assert.deepEqual([ended.status, ended.error_code], ['failed', 'upstream_failed']);
    assert.deepEqual([studio.queue.tasks.length, studio.direct.submissions.length], [before + 1, elsewhere]);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('R-509: a plain refusal goes to the next upstream, and the caller sees nothing of it', async () => {
    await studio.gateway.putConfig(studio.document({ queue: { priority: 10 } }));
    studio.queue.script('submit', UNSCHEDULED);
    const before = studio.direct.submissions.length;
    const job = await studio.create(caller, IMAGES, asked('studio/both', { n: 2 }));
    const ended = await studio.ended(caller, job.id);
    assert.deepEqual([ended.status, ended.usage], ['succeeded', { credits: 2 * IMAGE_PRICE }]);
    assert.equal(studio.direct.submissions.length, before + 1);
  });

  test('R-509: the only upstream, if it plainly refuses with a fault that passes, is asked once more at once', async () => {
    studio.queue.script('submit', UNSCHEDULED);
    const job = await studio.create(caller, IMAGES, asked('studio/queue'));
    assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
  });

  test('R-509: what is too large for one upstream goes to the next, and what all find too large fails at once', async () => {
    await studio.gateway.putConfig(studio.document({ queue: { priority: 10 } }));
    const tooLarge = { kind: 'raw', status: 413, body: '{}' } as const;
    studio.queue.script('submit', tooLarge, tooLarge);
    const taken = await studio.create(caller, IMAGES, asked('studio/both'));
    assert.equal((await studio.ended(caller, taken.id)).status, 'succeeded');
    const refused = await studio.create(caller, IMAGES, asked('studio/queue'));
    const { status, error_code } = await studio.ended(caller, refused.id, 0);
    assert.deepEqual([status, error_code], ['failed', 'upstream_rejected']);
    const { state, strikes } = (await upstreamHealth(studio.gateway, 'queue')).model;
    assert.deepEqual([state, strikes], ['closed', 0]);
  });
});

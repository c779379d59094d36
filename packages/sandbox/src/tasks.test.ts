import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { systemClock } from '../../../src/clock.ts';
import { ApiError, UpstreamError } from '../../../src/errors.ts';
import { type JsonObject, parseJson } from '../../../src/json.ts';
import {
  bytesOf,
  ended,
  IMAGE,
  MUSIC,
  made,
  order,
  plainMedium,
  sandboxUpstream,
  VIDEO,
} from '../../../test/support/sandbox-media.ts';
import { FailureCounts } from './faults.ts';
import { imageKind } from './image.ts';
import { sandbox } from './index.ts';
import { musicKind } from './music.ts';
import { Studio } from './studio/studio.ts';
import { taskWork } from './tasks.ts';
import { videoKind } from './video.ts';

const newWork = () => taskWork(imageKind, new FailureCounts(), new Studio());
const asking = (orders: JsonObject) => ({ ...IMAGE, extra: { sandbox: orders } });
const fault = (name: string) => (error: unknown) => error instanceof UpstreamError && error.fault === name;

async function accepted(work: ReturnType<typeof newWork>, orders: JsonObject, id = 'order'): Promise<JsonObject> {
  const submitted = await work.submit(asking(orders), order(id), sandboxUpstream());
  assert.ok(submitted.state === 'accepted');
  return submitted.task;
}

async function stateOf(work: ReturnType<typeof newWork>, task: JsonObject) {
  const progress = await work.poll?.(task, sandboxUpstream());
  assert.ok(progress);
  return progress;
}

test('the vendor offers every kind of media', () => {
  assert.ok(sandbox.image && sandbox.video && sandbox.music);
});

test('a task is accepted at once, runs, and is the same in a process that knows nothing of it', async () => {
  const referenceImages = [await plainMedium('#00a000')];
  const work = newWork();
  const submitted = await work.submit({ ...IMAGE, referenceImages }, order('kept'), sandboxUpstream());
  assert.ok(submitted.state === 'accepted');
  assert.equal((await stateOf(work, submitted.task)).state, 'running');
  const [here, elsewhere] = [await ended(work, submitted.task), await ended(newWork(), submitted.task)];
  assert.deepEqual(bytesOf(here), bytesOf(elsewhere));
});

test('a result can be asked for again', async () => {
  const work = newWork();
  const task = await accepted(work, {});
  assert.deepEqual(await ended(work, task), await ended(work, task));
});

test('a task whose answer was lost is found under its order, and is the same', async () => {
  const task = await accepted(newWork(), {}, 'lost');
  const found = await newWork().adopt?.(asking({}), order('lost'), sandboxUpstream());
  assert.ok(found?.state === 'accepted');
  assert.deepEqual({ ...found.task, startedAtMs: 0 }, { ...task, startedAtMs: 0 });
});

for (const [asked, expected] of [
  ['busy', 'rate'],
  ['down', 'server'],
  ['timeout', 'timeout'],
] as const) {
  test(`fails with the fault "${asked}" when it is given work, whatever the kind`, async () => {
    const extra = { sandbox: { fail: asked } };
    const [failures, studio, upstream] = [new FailureCounts(), new Studio(), sandboxUpstream()];
    const submissions = [
      () => taskWork(imageKind, failures, studio).submit({ ...IMAGE, extra }, order('image'), upstream),
      () => taskWork(videoKind, failures, studio).submit({ ...VIDEO, extra }, order('video'), upstream),
      () => taskWork(musicKind, failures, studio).submit({ ...MUSIC, extra }, order('music'), upstream),
    ];
    for (const submit of submissions) await assert.rejects(submit, fault(expected));
  });
}

test('a refused order is found by nobody, and of one whose answer is never to come nothing is known', async () => {
  const adopt = (orders: JsonObject) => newWork().adopt?.(asking(orders), order('adopt'), sandboxUpstream());
  assert.equal(await adopt({ fail: 'busy' }), undefined);
  assert.equal(await adopt({ fail: 'down' }), undefined);
  assert.equal((await adopt({ fail: 'timeout' }))?.state, 'unknown');
  assert.equal((await adopt({ fail: 'timeout', fail_times: 1 }))?.state, 'unknown');
  assert.equal((await adopt({ fail: 'busy', fail_times: 1 }))?.state, 'accepted');
});

test('fails only as often as asked, counted over the attempts of one request', async () => {
  const work = newWork();
  const attempt = (id: string) => accepted(work, { fail: 'busy', fail_times: 2 }, id);
  await assert.rejects(attempt('first'), fault('rate'));
  await assert.rejects(attempt('second'), fault('rate'));
  assert.equal(bytesOf(await ended(work, await attempt('third'))).length, 1);
});

test('orders are read at the top of the body and in its "extra", with numbers as they were written', async () => {
  const extra = { extra: { sandbox: { fail: 'busy' } } };
  await assert.rejects(newWork().submit({ ...IMAGE, extra }, order('extra'), sandboxUpstream()), fault('rate'));
  const written = parseJson('{"sandbox": {"fail": "down", "fail_times": 1.0}}').exact() as JsonObject;
  await assert.rejects(
    newWork().submit({ ...IMAGE, extra: written }, order('one'), sandboxUpstream()),
    fault('server'),
  );
});

test('orders that make no sense are refused before anything happens', () => {
  const isInvalid = (error: unknown) => error instanceof ApiError && error.code === 'invalid_parameter';
  for (const orders of [{ fail: 'loudly' }, { delay_ms: 60_001 }, { delay: 1 }]) {
    assert.throws(() => newWork().check(asking(orders), 'image'), isInvalid);
  }
  newWork().check(asking({ delay_ms: 60_000 }), 'image');
});

test('the fault "policy" is a task that ends as refused content', async () => {
  const progress = await made(newWork(), asking({ fail: 'policy' }));
  assert.ok(progress.state === 'failed' && progress.code === 'content_rejected');
});

test('the fault "garbled" ends with as many results as were ordered, none of which can be used', async () => {
  const outputs = bytesOf(await made(newWork(), asking({ fail: 'garbled' }), 3));
  assert.equal(outputs.length, 3);
  for (const output of outputs) await assert.rejects(sharp(output).metadata());
});

test('a task runs for as long as it was asked to, also when its result is there already', async () => {
  const work = newWork();
  const task = await accepted(work, { delay_ms: 60_000 });
  await ended(work, { ...task, delayMs: 0 });
  const after = (ms: number) => stateOf(work, { ...task, startedAtMs: systemClock.nowMs() - ms });
  assert.deepEqual(await after(0), { state: 'running', percent: 0 });
  assert.deepEqual(await after(-5_000), { state: 'running', percent: 0 });
  const half = await after(30_010);
  assert.ok(half.state === 'running' && half.percent === 49);
  assert.equal((await after(60_000)).state, 'succeeded');
});

test('what is too much to keep waits until something was taken, and what was taken is made again', async () => {
  const studio = new Studio(1);
  const piece = await imageKind.plan(IMAGE, order('piece'));
  const madeOf = async (id: string) => {
    for (;;) {
      const report = studio.look(id, piece);
      if (report.state !== 'running') return report;
      await sleep(5);
    }
  };
  const reports = await Promise.all(['one', 'two', 'three', 'four'].map(madeOf));
  assert.ok(reports.every(({ state }) => state === 'made'));
  assert.equal(studio.look('one', piece).state, 'running');
  assert.deepEqual(await madeOf('one'), reports[0]);
});

test('what cannot be made fails, and the next is made', async () => {
  const piece = await imageKind.plan(IMAGE, order('piece'));
  const broken = { ...piece, references: ['bm8gcGljdHVyZQ=='] };
  const work = newWork();
  const task = { order: 'broken', count: 1, startedAtMs: 0, delayMs: 0, end: 'made' };
  const progress = await ended(work, { ...task, piece: broken });
  assert.ok(progress.state === 'failed' && progress.code === 'upstream_failed');
  assert.equal((await ended(work, { ...task, order: 'whole', piece })).state, 'succeeded');
});

test('a program that has given work ends when it has nothing else to do', () => {
  const code = `
    const { sandbox } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    const { signal } = new AbortController();
    const request = ${JSON.stringify({ ...VIDEO, seconds: 60, size: '1280x720' })};
    await sandbox.video.submit(request, { id: 'left', count: 1 }, { signal });
    console.log('given');`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, 'given\n']);
});

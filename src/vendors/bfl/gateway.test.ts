import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { BflEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PICTURE = await picture('jpeg', { width: 64, height: 64 });

const drawing: JobCase<BflEmulator> = {
  model: 'studio/flux',
  path: IMAGES,
  upstreamModel: 'flux-2-pro',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: PICTURE,
  usage: { credits: 4 },
  unsupported: { negative_prompt: 'fog' },
  policy: {
    'at its end': ({ endings }) => {
      endings.push('Content Moderated');
      return {};
    },
  },
};

// The vendor in the whole program.
const bench = openBench({
  vendor: 'bfl',
  kinds: [drawing],
  emulator: () => new BflEmulator(KEY, PICTURE),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /bfl|flux-2|127\.0\.0\.1:\d+\/samples/,
  files: /^\/samples/,
  keyHeader: 'x-key',
  emptyTold: 'by a status of its own',
  empty: (emulator) => {
    emulator.credits = 0;
  },
  throttle: (emulator) => {
    emulator.activeMax = 0;
  },
  adopts: false,
});
suite.testAll(drawing);
suite.testExample();

test('several pictures are as many tasks, copied before their links die, each fetched without the key', async () => {
  const job = await bench.made(drawing, { n: 3, resolution: '1k' });
  assert.deepEqual(
    bench.first.submissions,
    [1, 2, 3].map(() => ({ prompt: 'a gate', width: 1024, height: 1024 })),
  );
  bench.first.areLinksDead = true;
  assert.deepEqual(await bench.delivered(job.id), [PICTURE, PICTURE, PICTURE]);
  for (const { headers } of bench.first.sent('GET', /^\/samples/)) assert.equal(headers['x-key'], undefined);
  assert.equal(bench.first.sent('GET', /^\/samples/).length, 3);
  assert.deepEqual(await bench.money(), bench.paid(drawing, 3));
});

test('a task that a region does not know yet is found a moment later; one that stays unknown has failed', async () => {
  const unknown = { kind: 'instead', status: 200, body: '{"id":"task-1","status":"Task not found"}' } as const;
  bench.first.script({ kind: 'answer' }, unknown);
  await bench.made(drawing);
  bench.first.endings.push('Task not found');
  const job = await bench.ended(await bench.create(drawing));
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual(await bench.money(), bench.paid(drawing));
});

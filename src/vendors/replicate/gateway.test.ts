import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { BflEmulator } from '../bfl/emulator.ts';
import { ReplicateEmulator } from './emulator.ts';

const KEY = 'r8_key-of-the-operator';
const PICTURE = await picture('jpeg', { width: 64, height: 64 });

const drawing: JobCase<ReplicateEmulator> = {
  model: 'studio/flux',
  path: IMAGES,
  upstreamModel: 'black-forest-labs/flux-2-pro',
  spareModel: 'flux-2-pro',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: PICTURE,
  usage: { seconds: 2.5 },
  unsupported: { negative_prompt: 'fog' },
  policy: {
    'at its end': ({ endings }) => {
      endings.push({ error: 'The input or output was flagged as sensitive. (E005)' });
      return {};
    },
  },
};
const several = { ...drawing, model: 'studio/several', upstreamModel: 'black-forest-labs/flux-schnell' };

// The vendor in the whole program, with another vendor of the same model behind it.
const bench = openBench({
  vendor: 'replicate',
  kinds: [drawing, several],
  emulator: () => new ReplicateEmulator(KEY, PICTURE),
  upstream: { api_key: KEY },
  spare: { vendor: 'bfl', emulator: () => new BflEmulator(KEY, PICTURE), upstream: { api_key: KEY } },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /replicate|black-forest|delivery/,
  files: /^\/delivery/,
  emptyTold: 'by a status of its own',
  empty: (emulator) => {
    emulator.hasCredit = false;
  },
  throttle: (emulator) => {
    emulator.isThrottled = true;
  },
  adopts: true,
});
suite.testAll(drawing);
suite.testExample();

test('several pictures are one prediction, copied before their links die, each fetched without the key', async () => {
  const job = await bench.made(several, { n: 3 });
  assert.deepEqual(
    bench.first.submissions.map(({ input }) => input.num_outputs),
    [3],
  );
  bench.first.areLinksDead = true;
  assert.deepEqual(await bench.delivered(job.id), [PICTURE, PICTURE, PICTURE]);
  assert.equal(bench.first.sent('GET', /^\/delivery/).length, 3);
  for (const { headers } of bench.first.sent('GET', /^\/delivery/)) assert.equal(headers.authorization, undefined);
  assert.doesNotMatch(JSON.stringify(job), /replicate|schnell|delivery/);
  assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], bench.paid(several, 3)]);
});

test('R-517: of several calls the one whose answer was lost is adopted beside the others', async () => {
  bench.first.script({ kind: 'fault', fault: 'reset' });
  const job = await bench.made(drawing, { n: 3 });
  assert.deepEqual([bench.submitted(), (await bench.delivered(job.id)).length], [[3, 0], 3]);
  assert.deepEqual(await bench.money(), bench.paid(drawing, 3));
});

for (const [what, prepare, fields] of [
  ['cannot be told by its seed', () => undefined, { seed: 7 }],
  ['is not in the list yet', () => Object.assign(bench.first, { createdAt: '2020-01-01T00:00:00.000Z' }), {}],
  ['is asked after in vain', () => Object.assign(bench.first, { isListDown: true }), {}],
] as const) {
  test(`R-517: what ${what} after its answer was lost has failed, is asked for nowhere else, and costs nothing`, async () => {
    prepare();
    bench.first.script({ kind: 'fault', fault: 'reset' });
    await bench.assertFailed(await bench.create(drawing, fields), 'upstream_failed');
  });
}

test('a call with a seed that a process left without its answer has failed, and is not made twice', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(drawing, { seed: 7 });
  await until(async () => bench.first.submissions.length === 1);
  await bench.restart();
  await bench.assertFailed(id, 'upstream_failed');
});

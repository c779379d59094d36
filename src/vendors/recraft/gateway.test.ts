import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataUrl } from '../../../test/support/asked-forms.ts';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { RecraftEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PICTURE = await picture('png', { width: 64, height: 64 });

const drawing: JobCase<RecraftEmulator> = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'recraftv3',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: PICTURE,
  usage: { credits: 40 },
  unsupported: { background: 'transparent' },
  policy: {
    'at once': ({ forbidden }) => ({ prompt: forbidden }),
  },
};
const edit: JobCase<RecraftEmulator> = {
  ...drawing,
  model: 'studio/edit',
  path: '/v1/images/edits',
  body: { prompt: 'a gate', image: dataUrl(PICTURE), mask: dataUrl(PICTURE) },
};

// The vendor in the whole program. Pictures are made within the call: no task outlives a process.
const bench = openBench({
  vendor: 'recraft',
  kinds: [drawing, edit],
  emulator: () => new RecraftEmulator(KEY, PICTURE),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /recraft/,
  files: /^\/files/,
  emptyTold: 'as a bad request',
  empty: (emulator) => {
    emulator.isBroke = true;
  },
  throttle: (emulator) => {
    emulator.isBusy = true;
  },
  adopts: false,
});
suite.testDelivery(drawing);
suite.testDelivery(edit);
suite.testWithinCall(drawing);
suite.testFetchAfterRestart(drawing, (emulator, areDown) => {
  emulator.areLinksDown = areDown;
});
suite.testExample();

test('many pictures are few calls, and those that do not come are not paid for', async () => {
  bench.first.missingPictures = 1;
  const job = await bench.made(drawing, { n: 10 });
  assert.deepEqual(
    bench.first.accepted.map(({ body }) => (body as { n: number }).n),
    [6, 4],
  );
  assert.equal((await bench.delivered(job.id)).length, 8);
  assert.deepEqual([bench.submitted(), await bench.money()], [[2, 0], bench.paid(drawing, 8)]);
});

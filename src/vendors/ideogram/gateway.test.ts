import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataUrl } from '../../../test/support/asked-forms.ts';
import { openBench } from '../../../test/support/job-bench.ts';
import { type JobCase, JobSuite } from '../../../test/support/job-suite.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { IdeogramEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PICTURE = await picture('png', { width: 64, height: 64 });

const drawing: JobCase<IdeogramEmulator> = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'ideogram-v3',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
  result: PICTURE,
  unsupported: { background: 'transparent' },
  policy: {
    'at once': ({ forbidden }) => ({ prompt: forbidden }),
    'of what was made': (emulator) => {
      emulator.withheldPictures = 1;
      return {};
    },
  },
};
const edit: JobCase<IdeogramEmulator> = {
  ...drawing,
  model: 'studio/edit',
  path: '/v1/images/edits',
  body: { prompt: 'a gate', image: dataUrl(PICTURE), mask: dataUrl(PICTURE) },
};

// The vendor in the whole program. Pictures are made within the call: no task outlives a process.
const bench = openBench({
  vendor: 'ideogram',
  kinds: [drawing, edit],
  emulator: () => new IdeogramEmulator(KEY, PICTURE),
  upstream: { api_key: KEY },
});
const suite = new JobSuite(bench, {
  key: KEY,
  secrets: /ideogram/,
  files: /^\/files/,
  keyHeader: 'api-key',
  emptyTold: 'by a status of its own',
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

test('many pictures are few calls, and those that are not safe are not paid for', async () => {
  bench.first.withheldPictures = 1;
  const job = await bench.made(drawing, { n: 10 });
  assert.deepEqual(
    bench.first.accepted.map(({ body }) => (body as { num_images: number }).num_images),
    [8, 2],
  );
  assert.equal((await bench.delivered(job.id)).length, 8);
  assert.deepEqual([bench.submitted(), await bench.money()], [[2, 0], bench.paid(drawing, 8)]);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OpenAiEmulator } from './emulators/openai.ts';
import { Gateway } from './support/gateway.ts';
import { assetsOf, createdJob, endedJob } from './support/jobs.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';

let gateway: Gateway;
const upstream = new OpenAiEmulator();
before(async () => {
  await upstream.start();
  gateway = await Gateway.start();
  await gateway.putConfig({
    upstreams: [{ id: 'one', vendor: 'openai', base_url: upstream.url }],
    models: [
      {
        id: 'studio/photo',
        modality: 'image',
        owned_by: 'studio',
        endpoints: ['images', 'image_edits'],
        pricing: { mode: 'per_image', credits: { base: 40 } },
        accepts: { sizes: ['1024x1024'], n_max: 10 },
        routes: [{ upstream: 'one', model: 'gpt-image-2' }],
      },
    ],
  });
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});

test('an image job succeeds', async () => {
  const caller = await paidCaller(gateway);
  const job = await createdJob(gateway, caller, '/v1/images/generations', { model: 'studio/photo', prompt: 'a cat', n: 2 });
  assert.equal(job.status, 'queued');
  const ended = await endedJob(gateway, caller, job.id);
  console.log(ended, await assetsOf(gateway, caller, job.id), await moneyOf(gateway, caller));
  await gateway.assertBooksBalance();
});

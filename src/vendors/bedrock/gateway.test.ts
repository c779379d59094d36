import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchKind, openBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { picture } from '../../../test/support/media-samples.ts';
import { IMAGE_PRICE, IMAGES, imageModel } from '../../../test/support/studio.ts';
import { BedrockEmulator, refusal } from './emulator.ts';

const SECRET = 'wJalrXUtnFEMI';
const PICTURE = await picture('jpeg', { width: 64, height: 64 });

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'stability.stable-image-core-v1:1',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};

// The vendor in the whole program, by a user's key.
const bench = openBench({
  vendor: 'bedrock',
  kinds: [drawing],
  emulator: () => new BedrockEmulator({ accessKey: { id: 'AKIDEXAMPLE', secret: SECRET }, picture: PICTURE }),
  upstream: {
    api_key: SECRET,
    credential: { kind: 'access_key', access_key_id: 'AKIDEXAMPLE', region: 'us-east-1' },
  },
});

test('a picture is delivered and charged once, by calls that are signed', async () => {
  const job = await bench.made(drawing, { n: 2 });
  assert.deepEqual(await bench.delivered(job.id), [PICTURE, PICTURE]);
  assert.deepEqual([bench.submitted(), await bench.money()], [[2, 0], bench.paid(drawing, 2)]);
  for (const { headers } of bench.first.requests) assert.match(headers.authorization ?? '', /^AWS4-HMAC-SHA256 /);
  assert.doesNotMatch(JSON.stringify(job), /bedrock|stability|AKID/);
  assert.ok(!bench.lines.join('').includes(SECRET));
});

test('a field that the model does not take is refused before anything is held', async () => {
  const answer = await bench.ask(drawing, { quality: 'high' });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  assert.deepEqual([bench.submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
});

test('a prompt that is filtered costs nothing and goes nowhere else', async () => {
  const job = await bench.ended(await bench.create(drawing, { prompt: bench.first.forbidden }));
  assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});

test('a throttled account is made good by the other upstream', async () => {
  bench.first.script({ kind: 'instead', ...refusal(429, 'ThrottlingException', 'Too many requests') });
  await bench.made(drawing);
  assert.deepEqual([bench.submitted(), await bench.money()], [[1, 1], bench.paid(drawing)]);
});

for (const fault of ['reset', 'garbage', 'empty'] as const) {
  test(`a picture whose answer is lost (${fault}) is not asked for twice, and costs nothing`, async () => {
    bench.first.script({ kind: 'fault', fault });
    const job = await bench.ended(await bench.create(drawing));
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
    assert.deepEqual([bench.submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
  });
}

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type BenchKind, openBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { GoogleTokensEmulator } from './emulator/google-tokens.ts';
import { VertexEmulator } from './emulator.ts';

const FILES = {
  clip: await encodeClip({ seconds: 4, framesPerSecond: 4 }),
  picture: await picture('jpeg', { width: 64, height: 64 }),
};
const google = new GoogleTokensEmulator();
await google.start();
const SECRET = Buffer.from(JSON.stringify(google.key)).toString('base64');

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'gemini-3.1-flash-image',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const film: BenchKind = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'veo-3.1-generate-001',
  body: { prompt: 'waves', seconds: 4 },
  price: 4 * SECOND_PRICE,
  written: videoModel,
};

// The vendor in the whole program, by a service account's key.
const bench = openBench({
  vendor: 'vertex',
  kinds: [drawing, film],
  emulator: () => {
    const samples = { ...FILES, pictureType: 'image/jpeg' };
    return new VertexEmulator({ tokens: google.tokens, marker: 'upstream-marker', samples });
  },
  upstream: { api_key: SECRET, credential: { kind: 'service_account', token_url: `${google.origin}/token` } },
});
after(() => google.stop());

const begun = (emulator: VertexEmulator) =>
  emulator.calls.filter(({ path }) => /:(generateContent|predictLongRunning)$/.test(path)).length;
const submitted = () => [begun(bench.first), begun(bench.second)];

const KINDS = [
  [drawing, FILES.picture, 'style', [['vertex-0', { inputTokens: 7, outputTokens: 3 }]]],
  [film, FILES.clip, 'fps', []],
] as const;
for (const [kind, result, field, usages] of KINDS) {
  describe(kind.model, () => {
    test('is delivered and charged once, with a token and never the key', async () => {
      const job = await bench.made(kind);
      assert.deepEqual(await bench.delivered(job.id), [result]);
      assert.deepEqual([bench.usages, await bench.money()], [usages, bench.paid(kind)]);
      for (const { headers } of bench.first.calls) assert.match(headers.authorization ?? '', /^Bearer google-token-/);
      assert.doesNotMatch(JSON.stringify(job), /vertex|veo|gemini|google|127\.0\.0\.1:\d+\/v1|upstream-marker/);
      assert.ok(!bench.lines.join('').includes(SECRET));
    });

    test('with a field that the model does not take is refused before anything is held', async () => {
      const answer = await bench.ask(kind, { [field]: field === 'fps' ? 30 : 'odd' });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
    });

    test('is made elsewhere when the project cannot pay, which rests for longer than one request', async () => {
      bench.first.isBroke = true;
      for (const _ of [1, 2]) await bench.made(kind);
      assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(kind, 2)]);
      const { whole } = await upstreamHealth(bench.gateway, 'vertex-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
    });

    test('is made elsewhere when there is no capacity', async () => {
      bench.first.script({ kind: 'error', error: 'rate' });
      await bench.made(kind);
      assert.deepEqual([submitted(), await bench.money()], [[1, 1], bench.paid(kind)]);
    });

    test('that moderation refuses costs nothing and goes nowhere else', async () => {
      if (kind === drawing) bench.first.script({ kind: 'policy' });
      else bench.first.operations.endings.push('filtered');
      const job = await bench.ended(await bench.create(kind));
      assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
      assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
    });

    for (const fault of ['reset', 'reset in the body', 'garbage'] as const) {
      test(`whose answer is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
        bench.first.script({ kind: 'fault', fault });
        const job = await bench.ended(await bench.create(kind));
        assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
        assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
      });
    }
  });
}

test('a clip in a bucket is not delivered, and costs nothing', async () => {
  bench.first.operations.endings.push('bucket');
  const job = await bench.ended(await bench.create(film));
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual(await bench.money(), UNTOUCHED);
});

test('a clip whose answer breaks off is fetched again', async () => {
  bench.first.operations.readsUntilDone = 0;
  const bytesBase64Encoded = FILES.clip.toString('base64').slice(0, 400);
  const half = `{"done":true,"response":{"videos":[{"bytesBase64Encoded":"${bytesBase64Encoded}`;
  bench.first.script({ kind: 'answer' }, { kind: 'answer' }, { kind: 'raw', body: half });
  const job = await bench.made(film);
  assert.deepEqual(await bench.delivered(job.id), [FILES.clip]);
  // Found, broken off, and whole.
  assert.equal(bench.first.calls.length, 4);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(film)]);
});

test('a process that begins anew asks after the clip that the last one had submitted', async () => {
  bench.first.operations.readsUntilDone = 3;
  const id = await bench.create(film);
  await until(async () => (await bench.read(id)).status === 'running');
  await bench.restart();
  assert.equal((await bench.ended(id)).status, 'succeeded');
  assert.deepEqual(await bench.delivered(id), [FILES.clip]);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(film)]);
});

test('a clip whose submission the last process got no answer to is given up, never submitted twice, and costs nothing', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(film);
  await until(() => bench.first.operations.all.length === 1);
  await bench.restart();
  const job = await bench.ended(id);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});

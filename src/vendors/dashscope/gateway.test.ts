import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { request } from 'undici';
import { CLIP, clipForm, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { type BenchKind, JobBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip as encodeClip, picture, toneAs } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { DashscopeEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const PRICE = 20;
const FILES = {
  clip: await encodeClip({ seconds: 5, framesPerSecond: 4 }),
  picture: await picture('png', { width: 64, height: 64 }),
  sound: await toneAs('wav', { seconds: 1 }),
};

const drawing: BenchKind = {
  model: 'studio/drawing',
  path: IMAGES,
  upstreamModel: 'wan2.5-t2i-preview',
  body: { prompt: 'a gate' },
  price: IMAGE_PRICE,
  written: imageModel,
};
const sketch: BenchKind = { ...drawing, model: 'studio/sketch', upstreamModel: 'qwen-image-plus' };
const film: BenchKind = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'wan2.7-t2v',
  body: { prompt: 'waves', seconds: 5 },
  price: 5 * SECOND_PRICE,
  written: videoModel,
};
const call = (id: string, endpoint: string, routes: readonly object[]) => {
  const pricing = { mode: 'per_request', credits: { base: PRICE } };
  return { id, modality: 'audio', owned_by: 'studio', endpoints: [endpoint], pricing, routes };
};
const voice: BenchKind = {
  model: 'studio/voice',
  path: '/v1/audio/speech',
  upstreamModel: 'qwen3-tts-flash',
  body: { input: 'Hello', voice: 'Cherry' },
  price: PRICE,
  written: (id, routes) => call(id, 'audio_speech', routes),
};
const ears: BenchKind = {
  model: 'studio/ears',
  path: TRANSCRIPTIONS,
  upstreamModel: 'qwen3-asr-flash',
  body: {},
  price: PRICE,
  written: (id, routes) => call(id, 'transcriptions', routes),
};
const KINDS = [
  [drawing, FILES.picture, [], ['reset']],
  [sketch, FILES.picture, [], ['reset']],
  [film, FILES.clip, [['dashscope-0', { seconds: 5 }]], ['reset', 'garbage', 'empty']],
] as const;

// The vendor in the whole program.
const bench = new JobBench({
  vendor: 'dashscope',
  kinds: [drawing, sketch, film, voice, ears],
  emulator: () => new DashscopeEmulator(KEY, FILES),
  upstream: { api_key: KEY },
});
before(() => bench.start());
after(() => bench.stop());
beforeEach(() => bench.begin());
afterEach(() => bench.finish());

const submitted = () => [bench.first.sent('POST').length, bench.second.sent('POST').length];

for (const [kind, result, usages, faults] of KINDS) {
  describe(kind.model, () => {
    test('is copied before its link dies, fetched without the key, charged once, and its usage logged', async () => {
      const job = await bench.made(kind);
      bench.first.areLinksDead = true;
      assert.deepEqual(await bench.delivered(job.id), [result]);
      const fetched = bench.first.sent('GET', /^\/files/);
      assert.ok(fetched.length > 0);
      for (const { headers } of fetched) assert.equal(headers.authorization, undefined);
      assert.deepEqual([bench.usages, await bench.money()], [usages, bench.paid(kind)]);
      assert.doesNotMatch(JSON.stringify(job), /dashscope|wan2|qwen|127\.0\.0\.1:\d+\/files/);
      assert.ok(!bench.lines.join('').includes(KEY));
    });

    test('with a field that the model does not take is refused before anything is held', async () => {
      const answer = await bench.ask(kind, { resolution: '9k' });
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual([submitted(), await bench.money()], [[0, 0], UNTOUCHED]);
    });

    test('is made elsewhere when the account is in debt, told as a bad request, which rests for longer', async () => {
      bench.first.isInArrears = true;
      for (const _ of [1, 2]) await bench.made(kind);
      assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(kind, 2)]);
      const { whole } = await upstreamHealth(bench.gateway, 'dashscope-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
    });

    test('that moderation refuses costs nothing and goes nowhere else', async () => {
      const job = await bench.ended(await bench.create(kind, { prompt: bench.first.forbidden }));
      assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
      assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
    });

    for (const fault of faults) {
      test(`whose answer is lost after acceptance (${fault}) is not asked for twice, and costs nothing`, async () => {
        bench.first.script({ kind: 'fault', fault });
        const job = await bench.ended(await bench.create(kind));
        assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
        assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
      });
    }
  });
}

test('a clip is made elsewhere when the vendor throttles', async () => {
  bench.first.isThrottled = true;
  await bench.made(film);
  assert.deepEqual([submitted(), await bench.money()], [[1, 1], bench.paid(film)]);
});

test('several pictures are one task, and those that moderation takes out are not paid for', async () => {
  bench.first.refusedPictures = 1;
  const job = await bench.made(drawing, { n: 3 });
  assert.equal((await bench.delivered(job.id)).length, 2);
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(drawing, 2)]);
});

for (const [ending, code] of [
  [{ code: 'DataInspectionFailed' }, 'content_rejected'],
  [{ code: 'InternalError.Algo' }, 'upstream_failed'],
  ['UNKNOWN', 'upstream_failed'],
] as const) {
  test(`a clip that ends with ${JSON.stringify(ending)} is ${code}, and costs nothing`, async () => {
    bench.first.endings.push(ending);
    const job = await bench.ended(await bench.create(film));
    assert.deepEqual([job.status, job.error_code], ['failed', code], JSON.stringify(job));
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
  });
}

for (const kind of [film, drawing]) {
  test(`a process that begins anew asks after what the last one had submitted: ${kind.model}`, async () => {
    bench.first.readsUntilDone = 3;
    const id = await bench.create(kind);
    await until(async () => (await bench.read(id)).status === 'running');
    await bench.restart();
    assert.equal((await bench.ended(id)).status, 'succeeded');
    assert.deepEqual(await bench.delivered(id), [kind === film ? FILES.clip : FILES.picture]);
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(kind)]);
  });
}

test('a clip whose submission the last process got no answer to is given up, never submitted twice, and costs nothing', async () => {
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const id = await bench.create(film);
  await until(() => bench.first.tasks.length === 1);
  await bench.restart();
  const job = await bench.ended(id);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([submitted(), await bench.money()], [[1, 0], UNTOUCHED]);
});

describe('what is waited for', () => {
  async function spoken() {
    const { statusCode, body } = await request(bench.gateway.url + voice.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: voice.model, ...voice.body, response_format: 'wav' }),
    });
    return [statusCode, Buffer.from(await body.arrayBuffer())] as const;
  }
  const heard = () =>
    bench.gateway.call('POST', ears.path, { ...clipForm(CLIP, { model: ears.model }), key: bench.caller.key });

  test('speech is brought from its link without the key, and charged once', async () => {
    assert.deepEqual(await spoken(), [200, FILES.sound]);
    const [fetched] = bench.first.sent('GET', /^\/files/);
    assert.ok(fetched !== undefined && fetched.headers.authorization === undefined);
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(voice)]);
  });

  test('a transcript comes at once, and is charged once', async () => {
    const answer = await heard();
    assert.deepEqual([answer.status, answer.json.text], [200, 'A toll gate.'], answer.text);
    assert.deepEqual([submitted(), await bench.money()], [[1, 0], bench.paid(ears)]);
  });

  test('both come from elsewhere when the account is in debt', async () => {
    bench.first.isInArrears = true;
    assert.deepEqual(await spoken(), [200, FILES.sound]);
    assert.equal((await heard()).status, 200);
    assert.deepEqual([submitted(), await bench.money()], [[1, 2], bench.paid(voice, 2)]);
  });
});

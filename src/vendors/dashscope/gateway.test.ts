import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { request } from 'undici';
import { CLIP, clipForm, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { type BenchKind, JobBench, UNTOUCHED } from '../../../test/support/job-bench.ts';
import { VIDEOS, videoModel } from '../../../test/support/media-models.ts';
import { clip, picture, toneAs } from '../../../test/support/media-samples.ts';
import { until } from '../../../test/support/postgres.ts';
import { SPEECH } from '../../../test/support/speech-studio.ts';
import { IMAGE_PRICE, IMAGES, imageModel, SECOND_PRICE } from '../../../test/support/studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { DashscopeEmulator } from './emulator.ts';

const KEY = 'key-of-the-operator';
const CALL_PRICE = 20;
const FILES = {
  clip: await clip({ seconds: 1, framesPerSecond: 4 }),
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
/** No task: its picture comes with the answer. */
const sketch: BenchKind = { ...drawing, model: 'studio/sketch', upstreamModel: 'qwen-image-plus' };
const film: BenchKind = {
  model: 'studio/film',
  path: VIDEOS,
  upstreamModel: 'wan2.7-t2v',
  body: { prompt: 'waves', seconds: 5 },
  // What is delivered lasts a second, and is settled for that.
  price: SECOND_PRICE,
  written: videoModel,
};
const JOBS = [
  [drawing, FILES.picture, []],
  [sketch, FILES.picture, []],
  [film, FILES.clip, [['dashscope-0', { seconds: 5 }]]],
] as const;
const JOBS_PRICE = drawing.price + sketch.price + film.price;

const calls = (path: string, endpoint: string) => ({
  path,
  body: {},
  price: CALL_PRICE,
  written: (id: string, routes: readonly object[]) => {
    const pricing = { mode: 'per_request', credits: { base: CALL_PRICE } };
    return { id, modality: 'audio', owned_by: 'studio', endpoints: [endpoint], pricing, routes };
  },
});
const voice: BenchKind = {
  ...calls(SPEECH, 'audio_speech'),
  model: 'studio/voice',
  upstreamModel: 'qwen3-tts-flash',
};
const ears: BenchKind = {
  ...calls(TRANSCRIPTIONS, 'transcriptions'),
  model: 'studio/ears',
  upstreamModel: 'qwen3-asr-flash',
};

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

/** Submissions at the first and the second upstream. */
const counts = () => [bench.first.sent('POST').length, bench.second.sent('POST').length];
const paid = (credits: number) => ({ available: 1000 - credits, reserved: 0, spent: credits });

for (const [kind, result, usages] of JOBS) {
  test(`${kind.model} is copied before its link dies, fetched without the key, and charged once`, async () => {
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
}

test('a field that a model does not take is refused before anything is held', async () => {
  for (const [kind] of JOBS) {
    const answer = await bench.ask(kind, { resolution: '9k' });
    assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
  }
  assert.deepEqual([counts(), await bench.money()], [[0, 0], UNTOUCHED]);
});

test('everything is made elsewhere when the account is in debt, which is told as a bad request', async () => {
  bench.first.isInArrears = true;
  for (const [kind] of JOBS) await bench.made(kind);
  assert.deepEqual(await speak(), [200, FILES.sound]);
  assert.equal((await hear()).status, 200);
  assert.deepEqual([counts(), await bench.money()], [[1, 5], paid(JOBS_PRICE + 2 * CALL_PRICE)]);
  const { whole } = await upstreamHealth(bench.gateway, 'dashscope-0');
  assert.equal(whole.state, 'open', JSON.stringify(whole));
});

test('a clip is made elsewhere when the vendor throttles', async () => {
  bench.first.isThrottled = true;
  await bench.made(film);
  assert.deepEqual([counts(), await bench.money()], [[1, 1], bench.paid(film)]);
});

test('what moderation refuses costs nothing and goes nowhere else', async () => {
  for (const [kind] of JOBS) {
    const job = await bench.ended(await bench.create(kind, { prompt: bench.first.forbidden }));
    assert.deepEqual([job.status, job.error_code], ['failed', 'content_rejected'], JSON.stringify(job));
  }
  assert.deepEqual([counts(), await bench.money()], [[3, 0], UNTOUCHED]);
});

test('what is accepted and loses its answer is not asked for twice, and costs nothing', async () => {
  for (const [kind] of JOBS) {
    bench.first.script({ kind: 'fault', fault: 'reset' });
    const job = await bench.ended(await bench.create(kind));
    assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  }
  assert.deepEqual([counts(), await bench.money()], [[3, 0], UNTOUCHED]);
});

test('several pictures are one task, and those that moderation takes out are not paid for', async () => {
  bench.first.refusedPictures = 1;
  const job = await bench.made(drawing, { n: 3 });
  assert.equal((await bench.delivered(job.id)).length, 2);
  assert.deepEqual([counts(), await bench.money()], [[1, 0], bench.paid(drawing, 2)]);
});

test('a task that ends badly, or is lost, costs nothing', async () => {
  const ENDINGS = [
    [{ code: 'DataInspectionFailed' }, 'content_rejected'],
    [{ code: 'InternalError.Algo' }, 'upstream_failed'],
    ['UNKNOWN', 'upstream_failed'],
  ] as const;
  for (const [ending, code] of ENDINGS) {
    bench.first.endings.push(ending);
    const job = await bench.ended(await bench.create(film));
    assert.deepEqual([job.status, job.error_code], ['failed', code], JSON.stringify(job));
  }
  assert.deepEqual([counts(), await bench.money()], [[3, 0], UNTOUCHED]);
});

test('a process that begins anew asks after what the last one had submitted, and gives up what had no answer', async () => {
  bench.first.readsUntilDone = 3;
  const running = [await bench.create(drawing), await bench.create(film)];
  await until(async () => (await Promise.all(running.map((id) => bench.read(id)))).every(isRunning));
  bench.first.script({ kind: 'fault', fault: 'silence' });
  const unanswered = await bench.create(film);
  await until(() => bench.first.tasks.length === 3);
  await bench.restart();
  for (const id of running) assert.equal((await bench.ended(id)).status, 'succeeded');
  const job = await bench.ended(unanswered);
  assert.deepEqual([job.status, job.error_code], ['failed', 'upstream_failed'], JSON.stringify(job));
  assert.deepEqual([counts(), await bench.money()], [[3, 0], paid(drawing.price + film.price)]);
});

test('speech is brought from its link without the key, and charged once', async () => {
  assert.deepEqual(await speak(), [200, FILES.sound]);
  const [fetched] = bench.first.sent('GET', /^\/files/);
  assert.ok(fetched !== undefined && fetched.headers.authorization === undefined);
  assert.deepEqual([counts(), await bench.money()], [[1, 0], bench.paid(voice)]);
});

test('a transcript comes at once, and is charged once', async () => {
  const answer = await hear();
  assert.deepEqual([answer.status, answer.json.text], [200, 'A toll gate.'], answer.text);
  assert.deepEqual([counts(), await bench.money()], [[1, 0], bench.paid(ears)]);
});

function isRunning({ status }: { readonly status: string }): boolean {
  return status === 'running';
}

async function speak(): Promise<[status: number, sound: Buffer]> {
  const { statusCode, body } = await request(bench.gateway.url + voice.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: voice.model, input: 'Hello', voice: 'Cherry', response_format: 'wav' }),
  });
  return [statusCode, Buffer.from(await body.arrayBuffer())];
}

function hear() {
  return bench.gateway.call('POST', ears.path, { ...clipForm(CLIP, { model: ears.model }), key: bench.caller.key });
}

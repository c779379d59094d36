import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import { Booth, CLIP, CLIP_PRICE } from './support/booth.ts';
import { toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';

const MODEL = 'booth/strict';
const TEXT = 'Hello there. How are you?';
const booth = new Booth();
before(() => booth.start());
after(() => booth.stop());

const client = (apiKey: string, maxRetries = 0) =>
  new OpenAI({ baseURL: `${booth.gateway.url}/v1`, apiKey, maxRetries });
const clip = () => toFile(CLIP, 'clip.wav');

test('R-420: openai: a file becomes text with its usage, and the request id leads to the record', async () => {
  const caller = await paidCaller(booth.gateway);
  const { data, request_id } = await client(caller.key)
    .audio.transcriptions.create({
      model: MODEL,
      file: await clip(),
      language: 'en',
      prompt: 'A gate.',
      temperature: 0.2,
    })
    .withResponse();
  assert.equal(data.text, TEXT);
  const { usage } = data;
  assert.ok(usage?.type === 'duration');
  assert.deepEqual(usage, { type: 'duration', seconds: 1.5, audio_seconds: 1.5, credits: CLIP_PRICE });
  assert.equal((await booth.read(caller, request_id ?? '')).json.result.text, TEXT);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, CLIP_PRICE);
});

test('R-419: openai: text is a string', async () => {
  const { key } = await paidCaller(booth.gateway);
  const text = await client(key).audio.transcriptions.create({
    model: MODEL,
    file: await clip(),
    response_format: 'text',
  });
  assert.equal(text, TEXT);
});

test('R-414, R-421: openai: verbose JSON has segments and words with every field of the library’s types', async () => {
  const { key } = await paidCaller(booth.gateway);
  const answer = await client(key).audio.transcriptions.create({
    model: MODEL,
    file: await clip(),
    response_format: 'verbose_json',
    timestamp_granularities: ['segment', 'word'],
  });
  assert.deepEqual([answer.language, answer.duration, answer.text], ['en', 1.5, TEXT]);
  const [segment] = answer.segments ?? [];
  const fields = [
    'id',
    'seek',
    'start',
    'end',
    'text',
    'tokens',
    'temperature',
    'avg_logprob',
    'compression_ratio',
    'no_speech_prob',
  ];
  assert.deepEqual(Object.keys(segment ?? {}).sort(), fields.sort());
  assert.deepEqual(answer.words?.[0], { word: 'Hello', start: 0, end: 0.3 });
});

test('R-418: openai: a stream of unknown length is taken', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-clip-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'clip.ogg');
  writeFileSync(path, await toneAs('ogg-opus', { seconds: 1 }));
  const { key } = await paidCaller(booth.gateway);
  const { text } = await client(key).audio.transcriptions.create({ model: MODEL, file: createReadStream(path) });
  assert.equal(text, TEXT);
});

test('openai: refusals are errors with our code', async () => {
  const { key } = await paidCaller(booth.gateway);
  const asked = (file: Awaited<ReturnType<typeof clip>>, model = MODEL) =>
    client(key).audio.transcriptions.create({ model, file });
  await assert.rejects(asked(await clip(), 'none'), { status: 404, code: 'model_not_found' });
  await assert.rejects(asked(await toFile(CLIP.subarray(44), 'clip.pcm')), {
    status: 400,
    code: 'unsupported_audio_format',
  });
  await assert.rejects(asked(await toFile(Buffer.alloc(0), 'clip.wav')), { status: 400, code: 'empty_file' });
  booth.ear.script({ kind: 'transcript', words: [] });
  await assert.rejects(asked(await clip()), { status: 502, code: 'empty_transcription_response' });
});

test('openai: what failed with nothing charged is tried again by the library itself, and charged once', async () => {
  const caller = await paidCaller(booth.gateway);
  booth.ear.script({ kind: 'transcript', words: [] });
  const { text } = await client(caller.key, 1).audio.transcriptions.create({ model: MODEL, file: await clip() });
  assert.equal(text, TEXT);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, CLIP_PRICE);
});

test('R-421: ai: a transcript has its text, its length and its segments', async () => {
  const caller = await paidCaller(booth.gateway);
  const provider = createOpenAI({ baseURL: `${booth.gateway.url}/v1`, apiKey: caller.key });
  for (const granularity of ['segment', 'word'] as const) {
    const answer = await transcribe({
      model: provider.transcription('booth/strict'),
      audio: CLIP,
      maxRetries: 0,
      providerOptions: { openai: { timestampGranularities: [granularity], responseFormat: 'verbose_json' } },
    });
    assert.equal(answer.text, TEXT);
    assert.equal(answer.segments.length, granularity === 'segment' ? 1 : 5);
    assert.equal(answer.segments.at(-1)?.endSecond, 1.5);
  }
  assert.equal((await moneyOf(booth.gateway, caller)).spent, 2 * CLIP_PRICE);
});

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { Booth, CLIP, CLIP_PRICE, clipForm, entriesOf } from './support/booth.ts';
import type { NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';

// Transcripts by a client library that is told nothing but an address and a key.

const model = 'booth/strict';
const TEXT = 'Hello there. How are you?';
const booth = new Booth();
before(() => booth.start());
after(() => booth.stop());
afterEach(() => booth.gateway.assertBooksBalance());

const clientOf = ({ key }: NewCaller) =>
  new OpenAI({ baseURL: `${booth.gateway.url}/openai/v1`, apiKey: key, maxRetries: 0 });
const file = () => toFile(CLIP, 'clip.wav');

/** Lines of times and of text, by turns. */
const cuesIn = (subtitles: string) =>
  subtitles.split('\n').filter((line) => line !== '' && !/^(WEBVTT|\d+)$/.test(line));

test('the library openai gets a transcript as JSON, long or short, and as text', async () => {
  const caller = await paidCaller(booth.gateway);
  const { audio } = clientOf(caller);
  const { text, usage } = await audio.transcriptions.create({ model, file: await file() });
  assert.deepEqual([text, usage?.type], [TEXT, 'duration']);
  const long = await audio.transcriptions.create({ model, file: await file(), response_format: 'verbose_json' });
  assert.deepEqual([long.text, long.duration, (long.segments?.length ?? 0) > 0], [TEXT, 1.5, true]);
  assert.equal(await audio.transcriptions.create({ model, file: await file(), response_format: 'text' }), TEXT);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, 3 * CLIP_PRICE);
});

test('as subtitles, with the times of its segments', async () => {
  const caller = await paidCaller(booth.gateway);
  const { audio } = clientOf(caller);
  for (const [response_format, start, time] of [
    ['srt', /^1\n00:00:00,000 --> /, /^\d\d:\d\d:\d\d,\d{3} --> 00:00:0[01],\d{3}$/],
    ['vtt', /^WEBVTT\n\n00:00:00\.000 --> /, /^\d\d:\d\d:\d\d\.\d{3} --> 00:00:0[01]\.\d{3}$/],
  ] as const) {
    const subtitles = await audio.transcriptions.create({ model, file: await file(), response_format });
    assert.match(subtitles, start);
    const lines = cuesIn(subtitles);
    const texts = lines.filter((_line, place) => place % 2 === 1);
    assert.ok(
      lines.filter((_line, place) => place % 2 === 0).every((line) => time.test(line)),
      subtitles,
    );
    assert.equal(texts.join(' '), TEXT);
  }
  assert.equal((await moneyOf(booth.gateway, caller)).spent, 2 * CLIP_PRICE);
});

test('as a stream of one piece, and a failure raises with our code', async () => {
  const caller = await paidCaller(booth.gateway);
  const { audio } = clientOf(caller);
  const events = await Array.fromAsync(
    await audio.transcriptions.create({ model, file: await file(), stream: true, response_format: 'json' }),
  );
  assert.deepEqual(
    events.map((event) => [event.type, 'delta' in event ? event.delta : 'text' in event && event.text]),
    [
      ['transcript.text.delta', TEXT],
      ['transcript.text.done', TEXT],
    ],
  );
  assert.equal((await moneyOf(booth.gateway, caller)).spent, CLIP_PRICE);
  booth.ear.script({ kind: 'error', error: 'policy' });
  const failing = await audio.transcriptions.create({ model, file: await file(), stream: true });
  await assert.rejects(Array.fromAsync(failing), (error) => error instanceof OpenAI.APIError && error.code !== null);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, CLIP_PRICE);
});

test('what it cannot have is refused by its class, and nothing is charged', async () => {
  const caller = await paidCaller(booth.gateway);
  const { audio } = clientOf(caller);
  const speakers = audio.transcriptions.create({ model, file: await file(), response_format: 'diarized_json' });
  await assert.rejects(
    speakers,
    (error) => error instanceof OpenAI.BadRequestError && error.code === 'invalid_response_format',
  );
  await assert.rejects(audio.transcriptions.create({ model: 'no/such', file: await file() }), OpenAI.NotFoundError);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, 0);
});

test('a translation comes in every form, is charged like a transcript and kept like one', async () => {
  const caller = await paidCaller(booth.gateway);
  const { audio } = clientOf(caller);
  // The library's types know of JSON alone, and hand the other forms out as text.
  const translate = async (response_format: 'text' | 'srt' | 'vtt') => {
    const answer: unknown = await audio.translations.create({ model, file: await file(), response_format });
    assert.ok(typeof answer === 'string');
    return answer;
  };
  assert.equal((await audio.translations.create({ model, file: await file(), prompt: 'Ann' })).text, TEXT);
  const long = await audio.translations.create({ model, file: await file(), response_format: 'verbose_json' });
  assert.partialDeepStrictEqual(long, { task: 'translate', text: TEXT, language: 'english', duration: 1.5 });
  assert.ok('segments' in long);
  assert.equal(await translate('text'), TEXT);
  assert.match(await translate('srt'), /^1\n00:00:00,000 --> 00:00:01,500\nHello there\. How are you\?\n/);
  assert.match(await translate('vtt'), /^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.500\nHello there\./);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, 5 * CLIP_PRICE);
  assert.ok(booth.ear.requests.slice(-5).every(({ path }) => path === '/v1/audio/translations'));
});

test('a translation is read back as it was saved, in English', async () => {
  const caller = await paidCaller(booth.gateway);
  const { response } = await clientOf(caller)
    .audio.translations.create({ model, file: await file() })
    .withResponse();
  const { json } = await booth.read(caller, response.headers.get('x-request-id') ?? '');
  assert.deepEqual([json.status, json.result.text, json.result.language], ['completed', TEXT, 'en']);
});

test('only routes that translate are asked to', async () => {
  const caller = await paidCaller(booth.gateway);
  const before = booth.open.requests.length;
  booth.ear.script({ kind: 'error', error: 'overloaded' });
  await clientOf(caller).audio.translations.create({ model: 'booth/both', file: await file() });
  assert.equal(booth.open.requests.length, before);
});

test('models that translate nothing refuse in one wording, before anything is held', async () => {
  const caller = await paidCaller(booth.gateway);
  const ask = (fields: Record<string, string>) =>
    booth.gateway.call('POST', '/openai/v1/audio/translations', { ...clipForm(CLIP, fields), key: caller.key });
  const entries = await entriesOf(booth.gateway);
  for (const other of ['booth/open', 'booth/tasks']) {
    const { status, json } = await ask({ model: other });
    const { code, param, message } = json.error;
    assert.deepEqual(
      [status, code, param, message],
      [400, 'unsupported_parameter', 'model', '"model": this model does not translate.'],
    );
  }
  const REFUSED = { language: 'fr', stream: 'true', 'timestamp_granularities[]': 'word', response_format: 'odd' };
  for (const [name, value] of Object.entries(REFUSED)) {
    const { status, json } = await ask({ [name]: value });
    assert.equal(status, 400, name);
    assert.equal(json.error.param, name.replace('[]', ''));
  }
  assert.equal(await entriesOf(booth.gateway), entries);
});

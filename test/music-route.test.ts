import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { dataUrl, pngOf } from './support/asked-forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { toneAs } from './support/media-samples.ts';
import { MediaStudio, MUSIC, musicModel, type Told, videoModel } from './support/media-studio.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';

const MIB = 1024 * 1024;
const MP3 = await toneAs('mp3', { seconds: 1 });
const WAV = await toneAs('wav', { seconds: 1 });
const OGG = await toneAs('ogg-opus', { seconds: 1 });
const open = [{ upstream: 'open-queue', model: 'any/composer' }];
const studio = new MediaStudio({
  delivered: { audio: MP3 },
  queue: { files: { audio: MP3 } },
  models: [
    musicModel('song/any', open),
    musicModel('song/bounded', open, { n_max: 2, seconds_max: 30, formats: ['mp3'] }),
    musicModel('song/cloned', open, { voice_sample: 'required' }),
    musicModel(
      'song/seconds',
      open,
      { seconds_max: 30 },
      { pricing: { mode: 'per_second', credits: { per_second: 10 } } },
    ),
    musicModel('song/eleven', [{ upstream: 'queue', model: 'fal-ai/elevenlabs/music' }]),
    videoModel('film/any', open, {}),
  ],
});
before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway, 10_000);
});
afterEach(() => studio.gateway.assertBooksBalance());

const asked = (more: object = {}, model = 'song/any') => ({ body: { model, prompt: 'a slow waltz', ...more } });

async function refused(told: Told, ...fields: readonly object[]): Promise<void> {
  await studio.refuses(
    caller,
    MUSIC,
    fields.map((more) => [asked(more), told]),
  );
}

/** What the upstream was sent for a piece that it made. */
async function forwarded(more: object, model?: string) {
  await studio.made(caller, MUSIC, asked(more, model));
  return studio.openQueue.last.input;
}

test('R-403: a valid request answers 202 with a job of kind audio, and the piece comes through the assets', async () => {
  const answer = await studio.sent(caller, MUSIC, asked());
  assert.deepEqual([answer.status, answer.json.object, answer.json.kind], [202, 'job', 'audio'], answer.text);
  const ended = await studio.ended(caller, answer.json.id);
  assert.deepEqual([ended.status, ended.usage], ['succeeded', { credits: 50 }]);
  const [asset] = await studio.assets(caller, answer.json.id);
  assert.equal(asset.mime_type, 'audio/mpeg');
  assert.deepEqual((await studio.fetched(asset.url)).bytes, MP3);
});

test('R-402: a body of 12 MiB is taken, one byte more is too large', async () => {
  const json = JSON.stringify(asked().body);
  const padded = (bytes: number) => ({ raw: json.padEnd(bytes), headers: { 'content-type': 'application/json' } });
  await studio.made(caller, MUSIC, padded(12 * MIB));
  await studio.refuses(caller, MUSIC, [
    [padded(12 * MIB + 1), '413 body_too_large'],
    [{ raw: '{', headers: { 'content-type': 'application/json' } }, '400 invalid_json'],
    [{ raw: json, headers: { 'content-type': 'multipart/form-data; boundary=b' } }, '400 unsupported_content_type'],
  ]);
});

test('R-402: a model that makes music and some words are needed', async () => {
  for (const model of [undefined, null, '', 7]) await refused('400 missing_model', { model });
  await refused('404 model_not_found', { model: 'none' }, { model: 'film/any' });
  for (const prompt of [undefined, null, ''])
    await refused('400 missing_input', { prompt }, { prompt, voice: 'a', n: 2 });
  for (const name of ['input', 'text', 'lyrics']) await forwarded({ prompt: undefined, [name]: 'a slow waltz' });
  await refused('400 unsupported_parameter', { prompt: undefined, voice_description: 'deep' });
});

test('R-402: 40 000 characters of text and lyrics are taken, one more is too long, whatever a character weighs', async () => {
  for (const character of ['x', 'é', '😀']) {
    const half = character.repeat(20_000);
    await forwarded({ prompt: undefined, input: half, lyrics: half });
    await refused('413 text_too_long', { input: half, lyrics: half + character }, { text: half + half + character });
  }
  await forwarded({ prompt: 'x'.repeat(50_000) });
});

test('R-402: each field has the type and the bounds that it has for speech', async () => {
  const formats = ['mp4', 'MP3', '', 1].flatMap((format) => [{ response_format: format }, { format }]);
  await refused('400 invalid_response_format', ...formats);
  const lengths = [-1, -0.5, '5', true].flatMap((seconds) => [
    { duration_seconds: seconds },
    { seconds },
    { duration: seconds },
  ]);
  await refused('400 invalid_duration', ...lengths);
  await refused('400 invalid_n', { n: 0 }, { n: 9 }, { n: -1 }, { n: 1.5 }, { n: '2' });
  const numbers = [
    'speed',
    'volume',
    'loudness',
    'guidance_scale',
    'prompt_influence',
    'sample_rate',
    'bitrate',
    'mp3_bitrate',
  ];
  await refused('400 invalid_parameter', ...numbers.map((name) => ({ [name]: '1' })));
  await refused('400 invalid_parameter', { sample_rate: 1.5 }, { bitrate: 0 }, { seed: 1.5 }, { seed: '7' });
  const texts = ['input', 'text', 'prompt', 'lyrics', 'reference_id', 'voice_description', 'language'];
  await refused(
    '400 invalid_parameter',
    ...texts.map((name) => ({ [name]: 7, ...(name !== 'prompt' && { prompt: 'p' }) })),
  );
  const flags = ['instrumental', 'loop', 'auto_generate_text'];
  await refused('400 invalid_parameter', ...flags.map((name) => ({ [name]: 'true' })));
});

test('R-402: the synonyms of a field must agree', async () => {
  const { duration } = await forwarded({ duration_seconds: 5, seconds: 5, duration: 5 });
  assert.equal(duration, 5);
  await refused(
    '400 conflicting_parameters',
    { input: 'a', text: 'b' },
    { response_format: 'mp3', format: 'wav' },
    { duration_seconds: 5, seconds: 6 },
    { seconds: 5, duration: 6 },
    { bitrate: 128, mp3_bitrate: 192 },
  );
});

test('R-402: reference audio is a list of http and data URLs of MP3 or WAV', async () => {
  await refused(
    '400 invalid_reference_audio',
    { reference_audio: dataUrl(MP3, 'audio/mpeg') },
    { reference_audio: [7] },
  );
  await refused(
    '400 invalid_reference_audio',
    { reference_audio: [''] },
    { reference_audio: ['data:audio/mpeg;base64,'] },
  );
  await refused('400 unsupported_media_url_scheme', { reference_audio: ['ftp://example.com/a.mp3'] });
  await refused('400 unsupported_audio_format', { reference_audio: [dataUrl(OGG, 'audio/ogg')] });
  await refused('400 unsupported_audio_format', { reference_audio: [dataUrl(pngOf(), 'audio/mpeg')] });
  await refused('400 unsupported_audio_format', { reference_audio: [dataUrl(OGG, 'audio/mpeg')] });
  await refused('400 unsupported_audio_format', { reference_audio: [dataUrl(MP3, 'audio/wav')] });
  const sample = (chars: number) => `data:audio/mpeg;base64,${'A'.repeat(chars)}`;
  await refused('400 unsupported_audio_format', { reference_audio: [sample(10 * MIB)] });
  await refused(
    '413 voice_sample_too_large',
    { reference_audio: [sample(10 * MIB + 4)] },
    { voice: sample(10 * MIB + 4) },
  );
});

test('R-402: a model that clones a voice needs exactly one sample', async () => {
  const [mp3, wav] = [dataUrl(MP3, 'audio/mpeg'), dataUrl(WAV, 'audio/wav')];
  const told: Told = '400 invalid_reference_audio';
  const wrong = [{}, { reference_audio: [mp3, wav] }, { reference_audio: [mp3], voice: wav }, { voice: 'a name' }];
  await studio.refuses(
    caller,
    MUSIC,
    wrong.map((more) => [asked(more, 'song/cloned'), told] as const),
  );
  for (const more of [{ reference_audio: [mp3] }, { voice: mp3 }, { voice: MP3.toString('base64') }]) {
    assert.equal((await forwarded(more, 'song/cloned')).audio_url, mp3);
  }
});

test('R-402: what the model publishes bounds a request before anything is held', async () => {
  await forwarded({ n: 2, duration_seconds: 30, response_format: 'mp3' }, 'song/bounded');
  const told: Told = '400 unsupported_parameter';
  const wrong = [{ n: 3 }, { duration_seconds: 30.5 }, { response_format: 'wav' }];
  await studio.refuses(
    caller,
    MUSIC,
    wrong.map((more) => [asked(more, 'song/bounded'), told] as const),
  );
  await studio.refuses(caller, MUSIC, [[asked({ lyrics: 'la' }, 'song/eleven'), told]]);
});

test('R-404: every field of a piece reaches the upstream, and so do keys that are not modelled', async () => {
  const words = { lyrics: 'la la', voice: 'alto', reference_id: 'ref-1', language: 'it' };
  const rest = { instrumental: false, seed: 7, loop: true, guidance_scale: 2.5 };
  const url = studio.queue.files.add('a.wav', WAV, 'text/plain');
  const more = { ...words, ...rest, duration_seconds: 12.5, response_format: 'wav', reference_audio: [url] };
  assert.deepEqual(await forwarded(more), {
    prompt: 'a slow waltz',
    ...words,
    ...rest,
    duration: 12.5,
    output_format: 'wav',
    audio_url: dataUrl(WAV, 'audio/wav'),
  });
  const extra = '"big":12345678901234567891234,"one":1.0,"plan":{"a":[1E5]}';
  const raw = `{"model":"song/any","prompt":"p",${extra}}`;
  await studio.made(caller, MUSIC, { raw, headers: { 'content-type': 'application/json' } });
  assert.ok(studio.openQueue.last.text.startsWith(`{${extra},`), studio.openQueue.last.text);
});

test('R-404: a strict upstream is asked in its own words', async () => {
  await studio.made(caller, MUSIC, asked({ instrumental: true, duration_seconds: 12.5 }, 'song/eleven'));
  const expected = { prompt: 'a slow waltz', force_instrumental: true, music_length_ms: 12_500 };
  assert.deepEqual(studio.queue.tasks.at(-1)?.input, expected);
});

test('R-405: the output is checked and changes nothing', async () => {
  for (const output of ['binary', 'b64_json', 'url']) {
    const { id } = await studio.made(caller, MUSIC, asked({ output }));
    assert.equal('output' in studio.openQueue.last.input, false);
    assert.equal((await studio.assets(caller, id)).length, 1);
  }
  await refused('400 invalid_output', { output: 'stream' }, { output: '' }, { output: 1 });
});

test('R-404, R-406: n pieces are asked for, paid for, and have the ordinals from 0', async () => {
  for (const n of [1, 8]) {
    const before = studio.openQueue.submissions.length;
    const { id, usage } = await studio.made(caller, MUSIC, asked({ n }));
    assert.deepEqual([studio.openQueue.submissions.length - before, usage.credits], [n, n * 50]);
    const ordinals = (await studio.assets(caller, id)).map(({ ordinal }) => ordinal);
    assert.deepEqual(ordinals, [...Array(n).keys()]);
  }
});

test('R-403: music paid by the second is held at its longest and charged as delivered', async () => {
  const { id } = await studio.create(caller, MUSIC, asked({}, 'song/seconds').body);
  assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 9700, reserved: 300, spent: 0 });
  const { usage } = await studio.ended(caller, id);
  assert.ok(usage.credits >= 10 && usage.credits < 11, String(usage.credits));
});

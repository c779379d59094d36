import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { dataUrl } from './support/asked-forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { toneAs } from './support/media-samples.ts';
import { paidCaller } from './support/paid-calls.ts';
import { SpeechStudio, speechBody, voiceModel } from './support/speech-studio.ts';

const MIB = 1024 * 1024;
const MP3 = await toneAs('mp3', { seconds: 1 });

const studio = new SpeechStudio();
before(() =>
  studio.start({}, [
    voiceModel('voice/bounded', { accepts: { n_max: 2, seconds_max: 30, formats: ['mp3'] } }),
    voiceModel('voice/cloned', { accepts: { voice_sample: 'required' } }),
    voiceModel('not/speech', { endpoints: ['audio_music'] }),
  ]),
);
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway, 10_000);
});
afterEach(() => studio.rest());

const forwarded = (more = {}) => studio.forwarded(caller, more);
const refused = (told: string, ...rows: readonly Record<string, unknown>[]) => studio.refuses(caller, told, ...rows);
const JSON_BODY = { 'content-type': 'application/json' };

test('R-373: a body of 12 MiB is taken, one byte more is too large', async () => {
  const json = JSON.stringify(speechBody());
  const padded = (bytes: number) => ({ raw: json.padEnd(bytes), headers: JSON_BODY });
  const { status } = await studio.speak(caller, {}, { key: caller.key, ...padded(12 * MIB) });
  assert.equal(status, 200);
  await refused('413 body_too_large', padded(12 * MIB + 1));
  await refused('400 invalid_json', { raw: '{', headers: JSON_BODY }, { raw: '[]', headers: JSON_BODY });
  await refused('400 unsupported_content_type', { raw: json, headers: { 'content-type': 'text/plain' } });
});

test('R-151 R-373: a model that speaks is needed', async () => {
  for (const model of [undefined, null, '', 7]) await refused('400 missing_model', { model });
  await refused('404 model_not_found', { model: 'none' }, { model: 'not/speech' });
});

test('R-374 R-388: text is the same as input, and may only repeat it', async () => {
  assert.equal((await forwarded({ input: undefined, text: 'Hello.' })).input, 'Hello.');
  assert.equal((await forwarded({ input: 'Hello.', text: 'Hello.' })).input, 'Hello.');
  await refused('400 conflicting_parameters', { input: 'a', text: 'b' });
});

test('R-388: synonyms of one field must agree', async () => {
  await refused(
    '400 conflicting_parameters',
    { response_format: 'mp3', format: 'wav' },
    { duration_seconds: 5, seconds: 6 },
    { seconds: 5, duration: 6 },
    { bitrate: 128, mp3_bitrate: 192 },
    { voice: { id: 'a' }, reference_id: 'b' },
  );
});

test('R-375: some words are needed', async () => {
  const nothing = { input: undefined, voice: 'alto', n: 2 };
  for (const input of [undefined, null, '']) await refused('400 missing_input', { ...nothing, input });
  assert.equal((await forwarded({ ...nothing, lyrics: 'La.' })).input, 'La.');
  // They are words, only none that this model can speak.
  for (const name of ['prompt', 'voice_description'])
    await refused('400 unsupported_parameter', { ...nothing, [name]: 'a' });
});

test('R-376 R-377: 40 000 characters of text and lyrics are taken, one more is too long, whatever a character weighs', async () => {
  for (const character of ['x', 'é', '😀']) {
    await forwarded({ input: character.repeat(40_000) });
    const half = character.repeat(20_000);
    const tooLong = half + half + character;
    await refused('413 text_too_long', { input: half, lyrics: half + character }, { input: undefined, text: tooLong });
    // Together they are short enough, and go on to a model that takes only one of them.
    await refused('400 unsupported_parameter', { input: half, lyrics: half });
  }
  await forwarded({ prompt: 'x'.repeat(50_000) });
});

test('R-378: texts are forwarded', async () => {
  const sent = await forwarded({ prompt: 'calmly', voice: 'alto', voice_description: 'deep', language: 'it' });
  assert.deepEqual(
    [sent.input, sent.instructions, sent.voice, sent.voice_description, sent.language],
    ['Good day.', 'calmly', 'alto', 'deep', 'it'],
  );
  for (const more of [{ reference_id: 'ref-1' }, { voice: { id: 'ref-1' } }])
    assert.deepEqual((await forwarded(more)).voice, { id: 'ref-1' });
  const texts = ['prompt', 'lyrics', 'reference_id', 'voice_description', 'language'];
  await refused('400 invalid_parameter', ...texts.map((name) => ({ [name]: 7 })), { voice: 7 }, { voice: {} });
});

test('R-379: the format is one of seven, under either name', async () => {
  for (const format of ['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac']) {
    assert.equal((await forwarded({ response_format: format })).response_format, format);
    assert.equal((await forwarded({ format })).response_format, format);
  }
  // The container's name for what this upstream calls by its coding.
  assert.equal((await forwarded({ format: 'ogg' })).response_format, 'opus');
  const wrong = ['mp4', 'MP3', '', 1].flatMap((format) => [{ response_format: format }, { format }]);
  await refused('400 invalid_response_format', ...wrong);
});

test('R-380 R-381 R-384: numbers and flags are forwarded', async () => {
  const amounts = { speed: 1.25, volume: 0.5, loudness: -3.5, guidance_scale: 2.5, prompt_influence: 0.3 };
  const rest = { seed: 7, instrumental: true, loop: false, auto_generate_text: true };
  const sent = await forwarded({ ...amounts, ...rest, sample_rate: 44_100, mp3_bitrate: 128 });
  for (const [name, value] of Object.entries({ ...amounts, ...rest, sample_rate: 44_100, bitrate: 128 }))
    assert.equal(sent[name], value, name);
  const numbers = [...Object.keys(amounts), 'sample_rate', 'bitrate', 'mp3_bitrate', 'seed'];
  await refused('400 invalid_parameter', ...numbers.map((name) => ({ [name]: '1' })));
  await refused('400 invalid_parameter', { sample_rate: 1.5 }, { bitrate: 1.5 }, { mp3_bitrate: 0.5 }, { seed: 1.5 });
  const flags = ['instrumental', 'loop', 'auto_generate_text'];
  await refused('400 invalid_parameter', ...flags.map((name) => ({ [name]: 'true' })));
});

test('R-382: a duration is a number that is not negative, under each of its names', async () => {
  for (const name of ['duration_seconds', 'seconds', 'duration']) {
    assert.equal((await forwarded({ [name]: 2.5 })).duration_seconds, 2.5);
    assert.equal((await forwarded({ [name]: 0 })).duration_seconds, undefined);
    await refused('400 invalid_duration', { [name]: -0.001 }, { [name]: -1 }, { [name]: '5' }, { [name]: true });
  }
});

test('R-383: one to eight clips can be asked for', async () => {
  for (const n of [1, 8]) {
    studio.first.requests.length = 0;
    await forwarded({ n });
    assert.equal(studio.first.requests.length, n);
  }
  studio.first.requests.length = 0;
  await forwarded();
  assert.equal(studio.first.requests.length, 1);
  await refused('400 invalid_n', { n: 0 }, { n: 9 }, { n: -1 }, { n: 1.5 }, { n: '2' });
});

test('R-384 R-395: the seeds of several clips count on from the one that was given', async () => {
  await forwarded({ n: 3, seed: 40 });
  const seeds = studio.first.speeches.map(({ seed }) => seed);
  assert.deepEqual(new Set(seeds), new Set([40, 41, 42]));
});

test('R-385 R-398: reference audio is a list of http and data URLs, the latter of MP3 or WAV', async () => {
  await refused(
    '400 invalid_reference_audio',
    { reference_audio: dataUrl(MP3, 'audio/mpeg') },
    { reference_audio: [7] },
    { reference_audio: ['kitten'] },
    { reference_audio: ['data:audio/mpeg;base64,'] },
  );
  await refused('400 unsupported_media_url_scheme', { reference_audio: ['ftp://example.com/a.mp3'] });
  for (const type of ['audio/ogg', 'audio/flac', 'image/png', 'text/plain', '']) {
    await refused('400 unsupported_audio_format', { reference_audio: [dataUrl(MP3, type)] });
    await refused('400 unsupported_audio_format', { voice: dataUrl(MP3, type) });
  }
});

test('R-396: a model that clones a voice needs exactly one sample', async () => {
  const sample = dataUrl(MP3, 'audio/mpeg');
  await refused(
    '400 invalid_reference_audio',
    ...[{}, { voice: 'alto' }, { reference_audio: [sample, sample] }, { reference_audio: [sample], voice: sample }].map(
      (more) => ({ ...more, model: 'voice/cloned' }),
    ),
  );
});

test('R-386: the output is binary, b64_json or url', async () => {
  for (const output of ['binary', 'b64_json', 'url']) assert.equal('output' in (await forwarded({ output })), false);
  await refused('400 invalid_output', { output: 'stream' }, { output: '' }, { output: 1 });
});

test('R-387: unmodelled keys are forwarded as they were written', async () => {
  const extra = '"big":12345678901234567891234,"one":1.0,"plan":{"a":[1E5]}';
  const raw = `{"model":"voice/characters","input":"Hi.",${extra}}`;
  const { status } = await studio.speak(caller, {}, { key: caller.key, raw, headers: JSON_BODY });
  assert.equal(status, 200);
  const sent = studio.first.requests.at(-1)?.bytes.toString() ?? '';
  assert.ok(sent.includes(extra), sent);
});

test('R-387: addresses in unmodelled keys are held to the same rules as any', async () => {
  await refused('400 invalid_media_url', { hook: 'http://127.0.0.1/' }, { plan: { a: ['http://10.0.0.1/x'] } });
  await refused('400 url_in_extra', { hook: 'gopher://example.com' });
});

test('what the model publishes bounds a request before anything is held', async () => {
  const bounded = (more: object) => ({ ...more, model: 'voice/bounded' });
  await forwarded(bounded({ n: 2, duration_seconds: 30, response_format: 'mp3' }));
  await refused('400 unsupported_parameter', ...[{ n: 3 }, { duration_seconds: 30.5 }, { format: 'wav' }].map(bounded));
});

test('an account without credits reaches no upstream', async () => {
  const poor = await studio.gateway.newCaller();
  await studio.refuses(poor, '402 insufficient_credits', {}, { output: 'b64_json' }, { n: 8 });
});

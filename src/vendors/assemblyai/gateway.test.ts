import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import { parseJson } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { inMemoryMedia, UpstreamPools } from '../index.ts';
import { AUDIO, accepted, KEY, outcome, poll, transcription, withEmulator } from './emulator/calls.ts';

const WORDS = [
  { word: 'Hello', start: 0, end: 1 },
  { word: 'there.', start: 1, end: 2 },
  { word: 'How', start: 2, end: 3 },
  { word: 'are', start: 3, end: 4 },
  { word: 'you?', start: 4, end: 5 },
];
const SEGMENTS = [
  { start: 0, end: 2, text: 'Hello there.' },
  { start: 2, end: 5, text: 'How are you?' },
];

test('a recording is uploaded as it is, becomes one task, and waits, runs and ends with its text', () =>
  withEmulator(
    async (emulator, upstream) => {
      const task = await accepted(upstream);
      assert.deepEqual(task, { id: emulator.tasks[0]?.id });
      const progress = [];
      for (let round = 0; round < 3; round++) progress.push(await poll(task, upstream));
      const text = 'Hello there. How are you?';
      const transcript = { text, language: 'en', seconds: 5, words: WORDS, segments: SEGMENTS };
      assert.deepEqual(progress, [{ state: 'running' }, { state: 'running' }, { state: 'transcribed', transcript }]);
      assert.deepEqual(
        emulator.requests.map(({ step }) => step),
        ['upload', 'create', 'read', 'read', 'read', 'sentences'],
      );
      for (const { headers } of emulator.requests) assert.equal(headers.authorization, KEY);
      assert.deepEqual(emulator.tasks[0]?.audio, await AUDIO.read());
      const [upload] = emulator.requests;
      assert.equal(upload?.headers['content-type'], 'application/octet-stream');
      assert.equal(upload?.headers['content-length'], String(AUDIO.bytes));
    },
    { readsUntilDone: 2 },
  ));

test('a recording with an address of its own is uploaded all the same, piece by piece', () =>
  withEmulator(async (emulator, upstream) => {
    async function* pieces() {
      for (const piece of ['one ', 'two ', 'three']) yield Buffer.from(piece);
    }
    const read = () => Promise.reject(new Error('it is not to be held'));
    const media = inMemoryMedia(Buffer.from('one two three'), 'audio/wav', 'https://example.com/a.wav');
    await transcription.submit(plainTranscription(), { ...AUDIO, ...media, read, pieces }, upstream);
    assert.equal(emulator.tasks[0]?.audio?.toString(), 'one two three');
  }));

test('R-426 a task is asked after by its id alone, by whoever knows the account, and never submitted again', () =>
  withEmulator(async (emulator, upstream) => {
    const task = JSON.parse(JSON.stringify(await accepted(upstream)));
    emulator.complete(task.id, { text: 'Later.', seconds: 2 });
    const pools = new UpstreamPools();
    const progress = await poll(task, { ...upstream, model: 'another', pools });
    await pools.close();
    assert.equal(progress.state === 'transcribed' && progress.transcript.text, 'Later.');
    assert.deepEqual([emulator.tasks.length, emulator.count('create'), emulator.count('upload')], [1, 1, 1]);
  }));

describe('R-412 what is asked for', () => {
  const extra = parseJson('{"speaker_labels":true,"speech_threshold":0.5,"audio_end_at":90000}').exact();
  const SENT: readonly [name: string, fields: Partial<TranscriptionRequest>, sent: object, model?: string][] = [
    ['nothing but the text, in any language', {}, { language_detection: true }],
    [
      'with hints',
      { language: 'fr', prompt: 'Names: Ann', temperature: 0.2 },
      { language_code: 'fr', prompt: 'Names: Ann', temperature: 0.2 },
    ],
    ['in the language of a country that is known', { language: 'en-GB' }, { language_code: 'en_uk' }],
    ['in the language of one that is not', { language: 'pt-BR' }, { language_code: 'pt' }],
    ['in a language under its other code', { language: 'JV' }, { language_code: 'jw' }],
    [
      'with fields that are not modelled',
      { extra: extra as TranscriptionRequest['extra'] },
      { speaker_labels: true, speech_threshold: 0.5, audio_end_at: 90_000, language_detection: true },
    ],
    [
      'with fields of a form',
      { extra: { speaker_labels: 'true', speakers_expected: '2', domain: 'medical-v1', topics: ['1'] } },
      { speaker_labels: true, speakers_expected: 2, domain: 'medical-v1', topics: ['1'], language_detection: true },
    ],
    ['with the vendor’s own word for the language', { extra: { language_code: 'de_ch' } }, { language_code: 'de_ch' }],
    ['in English, by its default', { extra: { language_detection: false } }, { language_detection: false }],
    ['of several models', {}, { language_detection: true }, 'universal-3-pro,universal-2'],
  ];
  for (const [name, fields, sent, model = 'universal-3-pro'] of SENT) {
    test(`${name}`, () =>
      withEmulator(async (emulator, upstream) => {
        await accepted({ ...upstream, model }, fields);
        const [audio_url] = emulator.uploads.keys();
        assert.deepEqual(emulator.tasks[0]?.body, { ...sent, audio_url, speech_models: model.split(',') });
      }));
  }
});

describe('what a model cannot take is refused before anything is sent, by its name', () => {
  const REFUSED: readonly [field: string, fields: Partial<TranscriptionRequest>][] = [
    ['prompt', { prompt: 'Names' }],
    ['temperature', { temperature: 1.01 }],
    ['temperature', { temperature: -0.01 }],
    ...['audio_url', 'speech_model', 'speech_models', 'webhook_url', 'webhook_auth_header_value'].map(
      (name): [string, Partial<TranscriptionRequest>] => [name, { extra: { [name]: 'https://example.com' } }],
    ),
  ];
  for (const [field, fields] of REFUSED) {
    test(`${field} ${JSON.stringify(fields)}`, () =>
      assert.throws(() => transcription.check(plainTranscription(fields), 'universal-2'), {
        code: 'unsupported_parameter',
        message: new RegExp(`"${field}"`),
      }));
  }

  test('and what it can is not', () => {
    const fields = { temperature: 1, granularities: ['word', 'segment'], responseFormat: 'verbose_json' } as const;
    transcription.check(plainTranscription({ ...fields, prompt: 'Names' }), 'universal-3-pro');
    transcription.check(plainTranscription({ temperature: 0, prompt: '' }), 'universal-2');
  });
});

describe('how a task ends', () => {
  test('in silence', () =>
    withEmulator(async (emulator, upstream) => {
      const ended = await outcome(upstream, (id) => emulator.complete(id, { text: null, hasNoWords: true }));
      assert.ok(ended.state === 'transcribed');
      assert.deepEqual([ended.transcript.text, ended.transcript.words, ended.transcript.segments], ['', undefined, []]);
    }));

  const LANGUAGES = { en_us: 'en', de_ch: 'de', fr: 'fr', jw: 'jv', haw: 'haw' };
  for (const [language, code] of Object.entries(LANGUAGES)) {
    test(`in the language ${language}`, () =>
      withEmulator(async (emulator, upstream) => {
        const ended = await outcome(upstream, (id) => emulator.complete(id, { language }));
        assert.equal(ended.state === 'transcribed' && ended.transcript.language, code);
      }));
  }

  const ERRORS: readonly [error: string, code: string][] = [
    ['Transcoding failed. File does not appear to contain audio. File type is text/plain', 'upstream_rejected'],
    ['Audio duration is too short.', 'upstream_rejected'],
    ['language_detection cannot be performed on files with no spoken audio.', 'upstream_rejected'],
    ["detected language 'bg', confidence 0.29, is below the requested threshold of 0.4", 'upstream_rejected'],
    ['Download error, unable to download https://cdn.assemblyai.com/upload/1', 'upstream_failed'],
    ['Server error, developers have been alerted', 'upstream_failed'],
    ['', 'upstream_failed'],
  ];
  for (const [detail, code] of ERRORS) {
    test(`in an error: ${detail}`, () =>
      withEmulator(async (emulator, upstream) => {
        const ended = await outcome(upstream, (id) => emulator.fail(id, detail));
        assert.deepEqual(ended, { state: 'failed', code, detail });
      }));
  }

  test('nowhere, because the vendor knows it no more', () =>
    withEmulator(async (emulator, upstream) => {
      assert.deepEqual(await outcome(upstream, (id) => emulator.lose(id)), { state: 'lost' });
      assert.deepEqual(await poll({ id: '../upload?' }, upstream), { state: 'lost' });
    }));

  test('the same, however often it is asked after', () =>
    withEmulator(async (emulator, upstream) => {
      const task = await accepted(upstream);
      emulator.complete(task.id);
      assert.deepEqual(await poll(task, upstream), await poll(task, upstream));
    }));
});

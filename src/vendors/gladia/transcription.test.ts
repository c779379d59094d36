import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { clip } from '../emulator/sounds.ts';
import { UpstreamPools } from '../index.ts';
import { accepted, KEY, poll, withEmulator } from './emulator/calls.ts';
import { transcription } from './transcription.ts';

const TRANSCRIPT = {
  text: 'Hello there. Hi.',
  language: 'de',
  seconds: 2,
  words: [
    { word: 'Hello', start: 0, end: 0.4 },
    { word: 'there.', start: 0.5, end: 0.9 },
    { word: 'Hi.', start: 1.2, end: 1.4 },
  ],
  segments: [
    { text: 'Hello there.', start: 0, end: 0.9 },
    { text: 'Hi.', start: 1.2, end: 1.4 },
  ],
};

test('a recording is uploaded as it is, becomes one task, and waits, runs and ends with its text', () =>
  withEmulator(async (emulator, upstream) => {
    emulator.readsUntilDone = 2;
    const original = await clip();
    const task = await accepted(upstream, {}, { ...original, read: () => assert.fail('it is not to be held') });
    assert.deepEqual(task, { id: emulator.submissions[0]?.id });
    const progress = [];
    for (let round = 0; round < 3; round++) progress.push(await poll(task, upstream));
    assert.deepEqual(progress, [
      { state: 'running' },
      { state: 'running' },
      { state: 'transcribed', transcript: TRANSCRIPT },
    ]);
    const read = `GET /v2/pre-recorded/${task.id}`;
    assert.deepEqual(
      emulator.requests.map(({ method, path }) => `${method} ${path}`),
      ['POST /v2/upload', 'POST /v2/pre-recorded', read, read, read],
    );
    for (const { headers } of emulator.requests) assert.equal(headers['x-gladia-key'], KEY);
    const [[address, file] = assert.fail()] = emulator.uploads;
    assert.deepEqual(file, { name: 'audio.flac', type: 'audio/flac', bytes: await original.read(), seconds: 2 });
    assert.deepEqual(emulator.submissions[0]?.body, { audio_url: address, model: 'solaria-1' });
  }));

test('R-426 a task is asked after by its id alone, by another process, and never submitted again', () =>
  withEmulator(async (emulator, upstream) => {
    const task = JSON.parse(JSON.stringify(await accepted(upstream)));
    const pools = new UpstreamPools();
    const progress = await poll(task, { ...upstream, model: 'another', pools });
    await pools.close();
    assert.deepEqual(progress, { state: 'transcribed', transcript: TRANSCRIPT });
    assert.deepEqual(await poll(task, upstream), progress);
    assert.deepEqual([emulator.submissions.length, emulator.uploads.size], [1, 1]);
  }));

describe('R-412 what is asked for', () => {
  const languages = (...codes: string[]) => ({ language_config: { languages: codes, code_switching: false } });
  const SENT: readonly [name: string, fields: Partial<TranscriptionRequest>, sent: object][] = [
    ['a language', { language: 'en-US' }, languages('en')],
    ['a language by its name', { language: 'German' }, languages('de')],
    ['a language whose code is an old one here', { language: 'jv' }, languages('jw')],
    ['times, which there always are', { responseFormat: 'verbose_json', granularities: ['word'] }, {}],
    [
      'keys that are not modelled, also as a form writes them',
      { extra: { diarization: 'true', custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['Ann'] } } },
      { diarization: true, custom_vocabulary: true, custom_vocabulary_config: { vocabulary: ['Ann'] } },
    ],
    ['another model in a key of the vendor’s, in vain', { extra: { model: 'solaria-3' } }, {}],
  ];
  for (const [name, fields, sent] of SENT) {
    test(name, () =>
      withEmulator(async (emulator, upstream) => {
        await accepted(upstream, fields);
        const [audio_url] = emulator.uploads.keys();
        assert.deepEqual(emulator.submissions[0]?.body, { ...sent, audio_url, model: 'solaria-1' });
      }),
    );
  }
});

describe('what it cannot take, or would bring something else, is refused by its name', () => {
  const KEYS = ['audio_url', 'callback', 'callback_url', 'callback_config', 'language_config', 'subtitles'];
  const ADDONS = ['translation', 'summarization', 'named_entity_recognition', 'sentiment_analysis', 'audio_to_llm'];
  const REFUSED: readonly [field: string, fields: Partial<TranscriptionRequest>][] = [
    ['prompt', { prompt: 'About lighthouses' }],
    ['temperature', { temperature: 0 }],
    ['language', { language: '?' }],
    ...[...KEYS, ...ADDONS].map((name): [string, { extra: JsonObject }] => [name, { extra: { [name]: 'true' } }]),
  ];
  for (const [param, fields] of REFUSED) {
    test(JSON.stringify(fields), () =>
      assert.throws(() => transcription.check(plainTranscription(fields), 'solaria-1'), {
        code: 'unsupported_parameter',
        param,
      }),
    );
  }

  test('what is empty or switched off is no wish', () => {
    transcription.check(
      plainTranscription({ prompt: '', language: '', extra: { callback: false, translation: 'false' } }),
      'solaria-1',
    );
  });

  test('a recording that is longer than any plan takes is not sent, and another upstream may take it', () =>
    withEmulator(async (emulator, upstream) => {
      const long = { ...(await clip()), seconds: 255 * 60 + 1 };
      await assert.rejects(accepted(upstream, {}, long), { fault: 'unfit', isUncertain: false });
      assert.equal(emulator.requests.length, 0);
      await accepted(upstream, {}, { ...long, seconds: 255 * 60 });
    }));
});

describe('how a task ends', () => {
  test('in silence', () =>
    withEmulator(async (emulator, upstream) => {
      const task = await accepted(upstream);
      const transcription = { full_transcript: '', languages: [], utterances: [] };
      emulator.script(document({ status: 'done', result: { metadata: { audio_duration: 2 }, transcription } }));
      const transcript = { text: '', language: undefined, seconds: 2, words: [], segments: [] };
      assert.deepEqual(await poll(task, upstream), { state: 'transcribed', transcript });
    }));

  const FAILURES: readonly [errorCode: number | undefined, code: string][] = [
    [400, 'upstream_rejected'],
    [422, 'upstream_rejected'],
    [402, 'upstream_failed'],
    [413, 'upstream_failed'],
    [500, 'upstream_failed'],
    [0, 'upstream_failed'],
  ];
  for (const [errorCode, code] of FAILURES) {
    test(`in an error of ${errorCode}`, () =>
      withEmulator(async (emulator, upstream) => {
        const task = await accepted(upstream);
        const [accident = assert.fail()] = emulator.submissions;
        accident.errorCode = errorCode ?? 0;
        assert.deepEqual(await poll(task, upstream), { state: 'failed', code, detail: `error code ${errorCode}` });
      }));
  }

  test('in an error that has no code', () =>
    withEmulator(async (emulator, upstream) => {
      const task = await accepted(upstream);
      emulator.script(document({ status: 'error', error_code: null }));
      const failed = { state: 'failed', code: 'upstream_failed', detail: 'error code unknown' };
      assert.deepEqual(await poll(task, upstream), failed);
    }));

  test('nowhere, because the vendor knows it no more', () =>
    withEmulator(async (emulator, upstream) => {
      const task = await accepted(upstream);
      emulator.lose(task.id);
      assert.deepEqual(await poll(task, upstream), { state: 'lost' });
      assert.deepEqual(await poll({ id: '../upload?' }, upstream), { state: 'lost' });
    }));

  test('with words and segments that have their times', () =>
    withEmulator(async (emulator, upstream) => {
      const task = await accepted(upstream);
      const utterances = [
        { text: 'a', start: 0, words: [{ word: 'a', start: 0 }, { word: 'b', start: 1, end: 2 }, 'c'] },
        { text: 'b', start: 1, end: 2, words: null },
      ];
      const transcription = { full_transcript: 'a b', languages: [7], utterances };
      emulator.script(document({ status: 'done', result: { transcription } }));
      const transcript = {
        ...{ text: 'a b', language: undefined, seconds: undefined },
        words: [{ word: 'b', start: 1, end: 2 }],
        segments: [{ text: 'b', start: 1, end: 2 }],
      };
      assert.deepEqual(await poll(task, upstream), { state: 'transcribed', transcript });
    }));

  const GARBLED: readonly object[] = [
    {},
    { status: 'paused' },
    { status: 'done' },
    { status: 'done', result: {} },
    { status: 'done', result: { transcription: { full_transcript: 7 } } },
  ];
  for (const body of GARBLED) {
    test(`is garbled and asked after again: ${JSON.stringify(body)}`, () =>
      withEmulator(async (emulator, upstream) => {
        const task = await accepted(upstream);
        emulator.script(document(body));
        await assert.rejects(poll(task, upstream), { fault: 'garbled' });
        assert.equal((await poll(task, upstream)).state, 'transcribed');
      }));
  }
});

function document(body: object): Script {
  const headers = { 'content-type': 'application/json' };
  return { kind: 'instead', status: 200, headers, body: JSON.stringify(body) };
}

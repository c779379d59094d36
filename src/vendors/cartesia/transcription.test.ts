import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { clip } from '../emulator/sounds.ts';
import { KEY, transcribe, withEmulator } from './emulator/calls.ts';
import { transcription } from './transcription.ts';

const WORDS = [
  { word: 'Hello', start: 0, end: 0.4 },
  { word: 'there.', start: 0.5, end: 0.9 },
  { word: 'Hi.', start: 1.2, end: 1.4 },
];
const SEGMENTS = [
  { text: 'Hello there.', start: 0, end: 0.9 },
  { text: 'Hi.', start: 1.2, end: 1.4 },
];
const TIMES = { 'timestamp_granularities[]': 'word' };

test('a clip is sent as a file of a form, piece by piece', () =>
  withEmulator(async (emulator, upstream) => {
    const original = await clip();
    await transcribe({}, upstream, { ...original, read: () => assert.fail('it is not to be held') });
    const [{ headers, method, path } = assert.fail()] = emulator.requests;
    assert.deepEqual([method, path, headers.authorization], ['POST', '/stt', `Bearer ${KEY}`]);
    assert.equal(headers['cartesia-version'], '2026-08-14');
    const file = { name: 'audio.flac', type: 'audio/flac', bytes: await original.read() };
    assert.deepEqual(emulator.submissions[0]?.file, file);
  }));

describe('R-412 what is asked for', () => {
  const SENT: readonly [name: string, fields: Partial<TranscriptionRequest>, sent: object][] = [
    ['the text alone, in the language that the vendor would take it for', {}, { language: 'en' }],
    ['a language', { language: 'de-AT' }, { language: 'de' }],
    ['a language by its name', { language: 'French' }, { language: 'fr' }],
    ['a language whose code is an old one here', { language: 'jv' }, { language: 'jw' }],
    ['times', { responseFormat: 'verbose_json' }, { language: 'en', ...TIMES }],
    ['times of words', { granularities: ['word'] }, { language: 'en', ...TIMES }],
    ['times of segments, which are made of words', { granularities: ['segment'] }, { language: 'en', ...TIMES }],
    [
      'another model or file in a key of the vendor’s, in vain',
      { extra: { model: 'x', file: false } },
      { language: 'en' },
    ],
  ];
  for (const [name, fields, sent] of SENT) {
    test(name, () =>
      withEmulator(async (emulator, upstream) => {
        await transcribe(fields, upstream);
        assert.deepEqual(emulator.submissions[0]?.fields, { model: 'ink-whisper', ...sent });
      }),
    );
  }

  test('a key that is not modelled is passed on', () =>
    withEmulator(async (_emulator, upstream) => {
      await assert.rejects(transcribe({ extra: { odd: 1 } }, upstream), { fault: 'client' });
    }));
});

describe('what comes back', () => {
  test('is the text, its language and its length', () =>
    withEmulator(async (_emulator, upstream) => {
      const transcript = await transcribe({ language: 'de' }, upstream);
      assert.deepEqual(transcript, { text: 'Hello there. Hi.', language: 'de', seconds: 2 });
    }));

  test('has words, and segments made of them, where times were asked for', () =>
    withEmulator(async (_emulator, upstream) => {
      const transcript = await transcribe({ responseFormat: 'verbose_json' }, upstream);
      const expected = { text: 'Hello there. Hi.', language: 'en', seconds: 2, words: WORDS, segments: SEGMENTS };
      assert.deepEqual(transcript, expected);
    }));

  test('is nothing of silence', () =>
    withEmulator(async (emulator, upstream) => {
      emulator.script(document({ type: 'transcript', text: '', duration: 2, words: [] }));
      assert.deepEqual(await transcribe({}, upstream), { text: '', language: undefined, seconds: 2 });
    }));

  test('has segments without spaces where the text has none, and overlooks words without a time', () =>
    withEmulator(async (emulator, upstream) => {
      const words = [
        { word: ' 今日', start: 0, end: 0.5 },
        { word: 'は', start: 0.5, end: 0.6 },
        { word: '晴れ', start: 0.6 },
        { word: '雨', start: 2, end: 2.5 },
        { word: 'not there', start: 2.5, end: 3 },
      ];
      emulator.script(document({ text: '今日は晴れ。雨', words }));
      const { segments } = await transcribe({ granularities: ['word'] }, upstream);
      assert.deepEqual(segments, [
        { text: '今日は晴れ。', start: 0, end: 0.6 },
        { text: '雨 not there', start: 2, end: 3 },
      ]);
    }));

  for (const body of [{}, { error_code: 'x' }, { text: 7 }, { type: 'transcript', words: WORDS }]) {
    test(`is garbled without a text: ${JSON.stringify(body).slice(0, 30)}`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script(document(body));
        await assert.rejects(transcribe({}, upstream), { fault: 'garbled' });
      }));
  }
});

describe('what it cannot take, or would bring something else, is refused by its name', () => {
  const REFUSED: readonly [field: string, fields: Partial<TranscriptionRequest>][] = [
    ['prompt', { prompt: 'About lighthouses' }],
    ['temperature', { temperature: 0 }],
    ['language', { language: '?' }],
    ['encoding', { extra: { encoding: 'pcm_s16le' } }],
    ['sample_rate', { extra: { sample_rate: 16_000 } }],
    ['file', { extra: { file: 'x' } }],
  ];
  for (const [param, fields] of REFUSED) {
    test(JSON.stringify(fields), () =>
      assert.throws(() => transcription.check(plainTranscription(fields), 'ink-whisper'), {
        code: 'unsupported_parameter',
        param,
      }),
    );
  }

  test('what is empty is no wish', () => {
    transcription.check(plainTranscription({ prompt: '', language: '' }), 'ink-whisper');
  });
});

function document(body: object): Script {
  const headers = { 'content-type': 'application/json' };
  return { kind: 'instead', status: 200, headers, body: JSON.stringify(body) };
}

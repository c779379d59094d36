import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { clip } from '../emulator/sounds.ts';
import { KEY, transcribe, withEmulator } from './emulator/calls.ts';
import { transcriptOf } from './transcript.ts';
import { transcription } from './transcription.ts';

const PRO = 'transcribe-1-pro';
const TRANSCRIPT = { text: 'Hello there. Hi.', language: 'en', seconds: 2 };
const WORDS = [
  { word: 'Hello', start: 0.16, end: 0.48 },
  { word: 'there', start: 0.48, end: 0.9 },
  { word: 'Hi', start: 2, end: 2.2 },
];

test('a clip is sent piece by piece, under a name that says its format, its model in a header', () =>
  withEmulator(async (emulator, upstream) => {
    const original = await clip();
    const audio = { ...original, read: () => assert.fail('it is not to be held') };
    await transcribe({}, upstream, PRO, audio);
    const file = { name: 'audio.flac', type: 'audio/flac', bytes: await original.read() };
    assert.deepEqual(emulator.submissions[0]?.file, file);
    const [{ method, path, headers } = assert.fail()] = emulator.requests;
    assert.deepEqual([method, path, headers.authorization, headers.model], ['POST', '/v1/asr', `Bearer ${KEY}`, PRO]);
  }));

describe('R-412 what is asked for', () => {
  const SENT: readonly [name: string, fields: Partial<TranscriptionRequest>, sent: object, model?: string][] = [
    ['the text alone', {}, { ignore_timestamps: 'true' }],
    ['the text alone, without laughter', {}, { ignore_timestamps: 'true', tag_audio_events: 'false' }, PRO],
    ['a language in two letters', { language: 'en-US' }, { ignore_timestamps: 'true', language: 'en' }],
    ['a language by its name', { language: 'german' }, { ignore_timestamps: 'true', language: 'de' }],
    ['times', { responseFormat: 'verbose_json' }, { ignore_timestamps: 'false' }],
    ['times of words', { granularities: ['word'] }, { ignore_timestamps: 'false' }],
    [
      'keys that are not modelled',
      { extra: { tag_audio_events: 'true', diarize: 'auto', num_speakers: 2, min_speakers: null } },
      { ignore_timestamps: 'true', tag_audio_events: 'true', diarize: 'auto', num_speakers: '2' },
      PRO,
    ],
  ];
  for (const [name, fields, sent, model] of SENT) {
    test(`${name}${model === undefined ? '' : `, of ${model}`}`, () =>
      withEmulator(async (emulator, upstream) => {
        await transcribe(fields, upstream, model);
        assert.deepEqual(emulator.submissions[0]?.fields, sent);
      }));
  }
});

describe('what comes back', () => {
  test('is the text without the marks of its speakers, the language and the length', () =>
    withEmulator(async (_emulator, upstream) => {
      for (const model of ['transcribe-1', PRO]) assert.deepEqual(await transcribe({}, upstream, model), TRANSCRIPT);
    }));

  test('has words, and segments between pauses', () =>
    withEmulator(async (_emulator, upstream) => {
      const segments = [
        { text: 'Hello there', start: 0.16, end: 0.9 },
        { text: 'Hi', start: 2, end: 2.2 },
      ];
      const expected = { ...TRANSCRIPT, words: WORDS, segments };
      assert.deepEqual(await transcribe({ granularities: ['word'] }, upstream), expected);
      const alone = { granularities: ['word'], extra: { diarize: false } } as const;
      assert.deepEqual(await transcribe(alone, upstream, PRO), expected);
    }));

  test('has the turns of its speakers for segments where there are some', () =>
    withEmulator(async (_emulator, upstream) => {
      const transcript = await transcribe({ responseFormat: 'verbose_json' }, upstream, PRO);
      const segments = [
        { text: 'Hello there.', start: 0.16, end: 0.9 },
        { text: 'Hi.', start: 2, end: 2.2 },
      ];
      assert.deepEqual(transcript, { ...TRANSCRIPT, words: WORDS, segments });
    }));

  test('is nothing of silence', () => {
    const silence = { text: '', duration: 3, segments: [], speaker_turns: [] };
    assert.deepEqual(transcriptOf(silence, 3), { text: '', language: undefined, seconds: 3 });
  });

  test('whole sentences are segments, and no words', () => {
    const segments = [{ text: 'Hello there.', start: 0, end: 1 }];
    const transcript = transcriptOf({ text: 'Hello there.', segments }, 3);
    assert.deepEqual([transcript.words, transcript.segments], [undefined, segments]);
  });

  test('scripts without spaces are joined without them', () => {
    const segments = ['早', '上', 'OK', '好'].map((text, at) => ({ text, start: at, end: at + 0.5 }));
    assert.deepEqual(transcriptOf({ text: '早上OK好', segments }, 4).segments, [
      { text: '早上 OK 好', start: 0, end: 3.5 },
    ]);
  });

  test('a length that can only be milliseconds is', () => {
    const secondsOf = (duration: number, measured: number) => transcriptOf({ text: '', duration }, measured).seconds;
    assert.deepEqual([secondsOf(4200, 4.2), secondsOf(4.2, 4.2), secondsOf(80, 0.08)], [4.2, 4.2, 80]);
  });

  for (const body of ['', '{}', '{"code":"x","message":"y"}', '{"text":null}']) {
    test(`is garbled without a text: ${body || 'nothing'}`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script({ kind: 'instead', status: 200, headers: { 'content-type': 'application/json' }, body });
        await assert.rejects(transcribe({}, upstream), { fault: 'garbled' });
      }));
  }
});

describe('what it cannot take is refused by its name', () => {
  const REFUSED: readonly [param: string, fields: Partial<TranscriptionRequest>, model?: string][] = [
    ...['m', 'Transcribe-1-Pro', 'transcribe-1pro', 's1'].map((model): [string, object, string] => {
      return ['model', {}, model];
    }),
    ['prompt', { prompt: 'About lighthouses' }],
    ['temperature', { temperature: 0 }],
    ['language', { language: 'haw' }],
    ['language', { language: 'multi' }],
    ['ignore_timestamps', { extra: { ignore_timestamps: 'true' } }],
    ['audio', { extra: { audio: 'x' } }],
    ['diarize', { extra: { diarize: 'true' } }],
    ['num_speakers', { extra: { num_speakers: 2 } }],
  ];
  for (const [param, fields, model = 'transcribe-1'] of REFUSED) {
    test(`${model}: ${JSON.stringify(fields)}`, () =>
      assert.throws(() => transcription.check(plainTranscription(fields), model), {
        code: 'unsupported_parameter',
        param,
      }));
  }

  test('a file that the vendor is known to refuse is not sent there', () =>
    withEmulator(async (emulator, upstream) => {
      const file = await clip();
      const unfit = { fault: 'unfit', isUncertain: false };
      const large = { ...file, bytes: 50 * 1024 * 1024 + 1 };
      await assert.rejects(transcribe({}, upstream, 'transcribe-1', large), unfit);
      await assert.rejects(transcribe({}, upstream, 'transcribe-1', { ...file, extension: 'webm' }), unfit);
      await assert.rejects(transcribe({}, upstream, PRO, { ...file, seconds: 3601 }), unfit);
      assert.equal(emulator.requests.length, 0);
      await transcribe({}, upstream, PRO, { ...file, seconds: 3600, extension: 'webm' });
    }));
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import type { JsonObject } from '../../json.ts';
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

test('a clip is sent as it is, piece by piece, under its own type and behind the word for a key', () =>
  withEmulator(async (emulator, upstream) => {
    const original = await clip();
    const bytes = await original.read();
    const audio = {
      ...original,
      read: () => assert.fail('it is not to be held'),
      async *pieces() {
        for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
      },
    };
    await transcribe({}, upstream, audio);
    const [{ headers, method } = assert.fail()] = emulator.requests;
    assert.deepEqual([method, headers.authorization, headers['content-type']], ['POST', `Token ${KEY}`, 'audio/flac']);
    assert.equal(headers['content-length'], String(bytes.length));
    assert.deepEqual(emulator.submissions[0]?.audio, bytes);
  }));

describe('R-412 what is asked for', () => {
  const SENT: readonly [name: string, fields: Partial<TranscriptionRequest>, query: string, model?: string][] = [
    ['the text alone, in whatever language it is', {}, 'smart_format=true&detect_language=true&model=nova-3'],
    ['a language', { language: 'pt-BR' }, 'smart_format=true&model=nova-3&language=pt-BR'],
    ['several languages', { language: 'multi' }, 'smart_format=true&model=nova-3&language=multi'],
    [
      'times',
      { responseFormat: 'verbose_json', language: 'en' },
      'smart_format=true&model=nova-3&language=en&utterances=true',
    ],
    [
      'times of words',
      { granularities: ['word'], language: 'en' },
      'smart_format=true&model=nova-3&language=en&utterances=true',
    ],
    [
      'a model that detects no language, and assumes English',
      {},
      'smart_format=true&language=en&model=nova-2-medical',
      'nova-2-medical',
    ],
    [
      'several languages of such a model',
      { language: 'multi' },
      'smart_format=true&model=nova-3-medical&language=multi',
      'nova-3-medical',
    ],
    [
      'keys that are not modelled, also as a form writes them, and lists',
      { language: 'en', extra: { smart_format: 'false', keyterm: ['Tollgate', 'a b'], utt_split: 1.5, tag: null } },
      'smart_format=false&keyterm=Tollgate&keyterm=a+b&utt_split=1.5&model=nova-3&language=en',
    ],
    [
      'the languages to tell apart, by the vendor’s own key',
      { extra: { detect_language: ['en', 'de'] } },
      'smart_format=true&detect_language=en&detect_language=de&model=nova-3',
    ],
    [
      'another model in a key of the vendor’s, in vain',
      { language: 'en', extra: { model: 'base' } },
      'smart_format=true&model=nova-3&language=en',
    ],
  ];
  for (const [name, fields, query, model = 'nova-3'] of SENT) {
    test(name, () =>
      withEmulator(async (emulator, upstream) => {
        await transcribe(fields, { ...upstream, model });
        assert.equal(emulator.requests[0]?.path, `/v1/listen?${query}`);
      }),
    );
  }
});

describe('what comes back', () => {
  test('is the text with sentences, the language that was heard, the length, and words with their times', () =>
    withEmulator(async (_emulator, upstream) => {
      const transcript = await transcribe({}, upstream);
      assert.deepEqual(transcript, { text: 'Hello there. Hi.', language: 'de', seconds: 2, words: WORDS });
    }));

  test('has segments where times were asked for, and the language that was named', () =>
    withEmulator(async (_emulator, upstream) => {
      const transcript = await transcribe({ responseFormat: 'verbose_json', language: 'en-US' }, upstream);
      const expected = { text: 'Hello there. Hi.', language: 'en', seconds: 2, words: WORDS, segments: SEGMENTS };
      assert.deepEqual(transcript, expected);
    }));

  test('is nothing of silence', () =>
    withEmulator(async (emulator, upstream) => {
      const channels = [{ alternatives: [{ transcript: '', confidence: 0, words: [] }] }];
      emulator.script(document({ metadata: { duration: 2 }, results: { channels } }));
      assert.deepEqual(await transcribe({ language: 'multi' }, upstream), {
        text: '',
        language: undefined,
        seconds: 2,
        words: [],
      });
    }));

  const GARBLED: readonly object[] = [
    {},
    { request_id: 'accepted for a callback' },
    { err_code: 'x', err_msg: 'y' },
    { metadata: {}, results: {} },
    { results: { channels: [] } },
    { results: { channels: [{ alternatives: [] }] } },
    { results: { channels: [{ alternatives: [{ transcript: 7 }] }] } },
  ];
  for (const body of GARBLED) {
    test(`is garbled without a transcript: ${JSON.stringify(body)}`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script(document(body));
        await assert.rejects(transcribe({}, upstream), { fault: 'garbled' });
      }));
  }

  test('leaves out words and segments that lack a time', () =>
    withEmulator(async (emulator, upstream) => {
      const words = [{ word: 'a', start: 0 }, { word: 'b', start: 1, end: 2 }, 'c'];
      const results = {
        channels: [{ alternatives: [{ transcript: 'a b', words }] }],
        utterances: [{ transcript: 'a' }],
      };
      emulator.script(document({ results }));
      const transcript = await transcribe({ language: 'en' }, upstream);
      assert.deepEqual(
        [transcript.words, transcript.segments, transcript.seconds],
        [[{ word: 'b', start: 1, end: 2 }], [], undefined],
      );
    }));
});

describe('what it cannot take, or would bring something else, is refused by its name', () => {
  const REFUSED: readonly [field: string, fields: Partial<TranscriptionRequest>][] = [
    ['prompt', { prompt: 'About lighthouses' }],
    ['temperature', { temperature: 0 }],
    ...['callback', 'multichannel', 'encoding', 'summarize', 'topics', 'intents', 'sentiment', 'mip_opt_out'].map(
      (name): [string, { extra: JsonObject }] => [name, { extra: { [name]: 'true' } }],
    ),
  ];
  for (const [param, fields] of REFUSED) {
    test(JSON.stringify(fields), () =>
      assert.throws(() => transcription.check(plainTranscription(fields), 'nova-3'), {
        code: 'unsupported_parameter',
        param,
      }),
    );
  }

  test('what is switched off is no wish', () => {
    transcription.check(plainTranscription({ prompt: '', extra: { multichannel: 'false', topics: false } }), 'nova-3');
  });
});

test('a clip that cannot be read ends the call as it is', () =>
  withEmulator(async (_emulator, upstream) => {
    const broken = new Error('the disk is gone');
    const audio = {
      ...(await clip()),
      async *pieces(): AsyncGenerator<Buffer> {
        yield Buffer.from('fLaC');
        throw broken;
      },
    };
    await assert.rejects(transcribe({}, upstream, audio), broken);
  }));

function document(body: object): Script {
  const headers = { 'content-type': 'application/json' };
  return { kind: 'instead', status: 200, headers, body: JSON.stringify(body) };
}

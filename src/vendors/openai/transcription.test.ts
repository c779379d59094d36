import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ToneFormat, toneAs } from '../../../test/support/media-samples.ts';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import { parseJson } from '../../json.ts';
import { asMeasured, byteSourceOf, measure, sniff } from '../../media/index.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import type { AudioFile } from '../index.ts';
import { audioFile, transcribe, transcription, withTranscription } from './emulator/audio-calls.ts';
import { KEY, withEmulator } from './emulator/calls.ts';

const WAV = await fileOf('wav');
const TEXT = 'Hello there. How are you?';

async function fileOf(format: ToneFormat): Promise<AudioFile> {
  const bytes = await toneAs(format, { seconds: 1 });
  const sniffed = sniff(bytes);
  assert.ok(sniffed);
  const measured = await measure(byteSourceOf(bytes), sniffed);
  const { mimeType, extension } = asMeasured(sniffed, measured);
  return audioFile(bytes, mimeType, extension, measured.seconds);
}

test('there is nothing to ask after', () => {
  assert.deepEqual(Object.keys(transcription), ['check', 'translates', 'submit']);
});

test('R-412 a recording is sent as a form, letter by letter, with what is known about it', () =>
  withTranscription(
    async (emulator, upstream) => {
      const fields = { language: 'en', prompt: 'Names: Ann', temperature: 0.2 };
      const transcript = await transcribe(fields, WAV, upstream);
      assert.deepEqual([transcript.text, transcript.seconds, transcript.words], [TEXT, 1, undefined]);
      const [request] = emulator.requests;
      const [, boundary = ''] =
        /^multipart\/form-data; boundary=(\S+)$/.exec(request?.headers['content-type'] ?? '') ?? [];
      const value = (name: string, text: string) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
      const head =
        value('model', 'whisper-1') +
        value('language', 'en') +
        value('prompt', 'Names: Ann') +
        value('temperature', '0.2') +
        value('response_format', 'json') +
        `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="audio.wav"\r\ncontent-type: audio/wav\r\n\r\n`;
      const body = Buffer.concat([Buffer.from(head), await WAV.read(), Buffer.from(`\r\n--${boundary}--\r\n`)]);
      assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/audio/transcriptions');
      assert.equal(request?.headers['content-length'], String(body.length));
      assert.equal(request?.headers.authorization, `Bearer ${KEY}`);
      assert.equal(request?.bytes.toString('latin1'), body.toString('latin1'));
    },
    { apiKey: KEY },
  ));

test('a recording is sent piece by piece, and never held', () =>
  withTranscription(async (emulator, upstream) => {
    const bytes = await WAV.read();
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
    }
    const read = () => Promise.reject(new Error('it is not to be held'));
    await transcribe({}, { ...WAV, read, pieces }, upstream);
    assert.deepEqual(emulator.recordings[0]?.file.bytes, bytes);
  }));

describe('R-415 every format goes under the name and type that it has', () => {
  const NAMES: readonly [format: ToneFormat, name: string, type: string][] = [
    ['wav', 'audio.wav', 'audio/wav'],
    ['flac', 'audio.flac', 'audio/flac'],
    ['ogg-vorbis', 'audio.ogg', 'audio/ogg'],
    ['ogg-opus', 'audio.ogg', 'audio/ogg'],
    ['mp3', 'audio.mp3', 'audio/mpeg'],
    ['m4a', 'audio.m4a', 'audio/mp4'],
    ['webm', 'audio.webm', 'audio/webm'],
  ];
  for (const [format, name, type] of NAMES) {
    test(`${format}`, () =>
      withTranscription(async (emulator, upstream) => {
        await transcribe({}, await fileOf(format), upstream);
        const [recording] = emulator.recordings;
        assert.deepEqual([recording?.file.name, recording?.file.type], [name, type]);
      }));
  }

  test('aac, which the format’s author does not take, goes only to others', async () => {
    const aac = await fileOf('aac');
    await withTranscription(async (emulator, upstream) => {
      await assert.rejects(transcribe({}, aac, upstream), { fault: 'unfit', isUncertain: false });
      assert.equal(emulator.requests.length, 0);
    });
    await withEmulator({ isLenient: true }, async (emulator, upstream) => {
      await transcribe({}, aac, { ...upstream, model: 'whisper-large-v3' });
      assert.equal(emulator.recordings[0]?.file.name, 'audio.aac');
    });
  });
});

describe('times are asked for where they are wanted', () => {
  const SEGMENT = { start: 0, end: 1, text: ` ${TEXT}`, noSpeechProbability: 0.01 };
  const WORDS = ['Hello', 'there.', 'How', 'are', 'you?'].map((word, at) => ({
    word,
    start: at / 5,
    end: (at + 1) / 5,
  }));
  const ASKED: readonly [name: string, fields: Partial<TranscriptionRequest>, sent: object, transcript: object][] = [
    ['text alone', { responseFormat: 'text' }, { response_format: 'json' }, { text: TEXT, seconds: 1 }],
    [
      'all that is usual',
      { responseFormat: 'verbose_json' },
      { response_format: 'verbose_json' },
      { text: TEXT, language: 'en', seconds: 1, segments: [SEGMENT] },
    ],
    [
      'words',
      { responseFormat: 'verbose_json', granularities: ['word'] },
      { response_format: 'verbose_json', 'timestamp_granularities[]': ['word'] },
      { text: TEXT, language: 'en', seconds: 1, words: WORDS },
    ],
    [
      'words and segments of a brief answer',
      { granularities: ['word', 'segment'] },
      { response_format: 'verbose_json', 'timestamp_granularities[]': ['word', 'segment'] },
      { text: TEXT, language: 'en', seconds: 1, segments: [SEGMENT], words: WORDS },
    ],
  ];
  for (const [name, fields, sent, expected] of ASKED) {
    test(`${name}`, () =>
      withTranscription(async (emulator, upstream) => {
        const transcript = await transcribe(fields, WAV, upstream);
        assert.deepEqual(emulator.recordings[0]?.fields, { model: 'whisper-1', ...sent });
        assert.deepEqual(JSON.parse(JSON.stringify(transcript)), expected);
      }));
  }

  for (const model of ['gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-transcribe']) {
    test(`${model} knows the text alone, and is asked for nothing else`, () =>
      withTranscription(async (emulator, upstream) => {
        const transcript = await transcribe({ responseFormat: 'verbose_json' }, WAV, { ...upstream, model });
        assert.deepEqual(emulator.recordings[0]?.fields, { model, response_format: 'json' });
        assert.deepEqual(JSON.parse(JSON.stringify(transcript)), { text: TEXT });
      }));
  }

  test('a model that tells speakers apart is asked to cut long recordings', () =>
    withTranscription(async (emulator, upstream) => {
      const model = 'gpt-4o-transcribe-diarize';
      const extra = { chunking_strategy: { type: 'server_vad', threshold: 0.5 } };
      await transcribe({}, WAV, { ...upstream, model });
      await transcribe({ extra }, WAV, { ...upstream, model });
      const [usual, own] = emulator.recordings.map(({ fields }) => fields);
      assert.deepEqual(usual, { model, response_format: 'json', chunking_strategy: 'auto' });
      assert.deepEqual(own, {
        model,
        response_format: 'json',
        'chunking_strategy[type]': 'server_vad',
        'chunking_strategy[threshold]': '0.5',
      });
    }));
});

test('what is to be in English goes to a place of its own, without a hint of the language', () =>
  withTranscription(async (emulator, upstream) => {
    const fields = { task: 'translate', prompt: 'Names: Ann', responseFormat: 'verbose_json' } as const;
    const { text, segments } = await transcribe(fields, WAV, upstream);
    assert.deepEqual([text, segments?.length], [TEXT, 1]);
    const sent = { model: 'whisper-1', prompt: 'Names: Ann', response_format: 'verbose_json' };
    assert.deepEqual(emulator.recordings[0]?.fields, sent);
    assert.deepEqual(
      emulator.requests.map(({ path }) => path),
      ['/v1/audio/translations'],
    );
  }));

test('models that translate are known by their names', () => {
  const can = (model: string) => transcription.translates?.(model);
  for (const model of ['whisper-1', 'openai/whisper-large-v3', 'whisper-small']) assert.equal(can(model), true, model);
  const others = ['gpt-4o-transcribe', 'whisper-large-v3-turbo', 'whisper-small.en', 'distil-whisper', 'any-ear'];
  for (const model of others) assert.equal(can(model), false, model);
});

test('fields that are not modelled keep their numbers, and never stand for the file', () =>
  withEmulator({ isLenient: true }, async (emulator, upstream) => {
    const text = '{"big":9007199254740993,"one":1.0,"words":["a","b"],"deep":{"x":true},"file":"no","file[a]":"no"}';
    const extra = parseJson(text).exact() as TranscriptionRequest['extra'];
    await transcribe({ extra }, WAV, upstream);
    assert.deepEqual(emulator.recordings[0]?.fields, {
      big: '9007199254740993',
      one: '1.0',
      'words[]': ['a', 'b'],
      'deep[x]': 'true',
      model: 'gpt-x',
      response_format: 'json',
    });
  }));

describe('what a model cannot take is refused before anything is sent, by its name', () => {
  const REFUSED: readonly [field: string, fields: Partial<TranscriptionRequest>, model: string][] = [
    ['timestamp_granularities', { granularities: ['word'] }, 'gpt-4o-transcribe'],
    ['timestamp_granularities', { granularities: ['segment'] }, 'openai/gpt-transcribe'],
    ['timestamp_granularities', { granularities: ['word'] }, 'gpt-4o-transcribe-diarize'],
    ['prompt', { prompt: 'Names' }, 'gpt-4o-transcribe-diarize'],
    ['temperature', { temperature: 1.01 }, 'whisper-1'],
    ['temperature', { temperature: -0.1 }, 'gpt-4o-transcribe'],
    ['stream', { extra: { stream: 'true' } }, 'gpt-4o-transcribe'],
    ['stream', { extra: { stream: true } }, 'whisper-large-v3'],
  ];
  for (const [field, fields, model] of REFUSED) {
    test(`${field} ${JSON.stringify(fields)} by ${model}`, () =>
      assert.throws(() => transcription.check(plainTranscription(fields), model), {
        code: 'unsupported_parameter',
        message: new RegExp(`"${field}"`),
      }));
  }

  test('and what it can is not', () => {
    transcription.check(plainTranscription({ temperature: 1, extra: { stream: 'false' } }), 'whisper-1');
    transcription.check(plainTranscription({ temperature: 2, granularities: ['word'] }), 'whisper-large-v3');
    transcription.check(plainTranscription({ responseFormat: 'verbose_json', prompt: 'x' }), 'gpt-transcribe');
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '../../json.ts';
import { byteSourceOf, measure, sniff } from '../../media/index.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { countCharacters } from '../../text/index.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { soundAs } from './emulator/audio.ts';
import { soundRequest, speech, spoken, withSpeech } from './emulator/audio-calls.ts';
import { KEY } from './emulator/calls.ts';

type Fields = Partial<SoundRequest<Media>>;

test('R-374 a text is sent as JSON, letter by letter, and comes back as the bytes of a sound', () =>
  withSpeech(
    async (emulator, upstream) => {
      const fields = { voice: 'coral', prompt: 'Whisper.', format: 'wav', speed: 1.5 } as const;
      assert.deepEqual(await spoken(fields, upstream), await soundAs('wav'));
      const [request] = emulator.requests;
      assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/audio/speech');
      assert.equal(
        request?.bytes.toString(),
        '{"input":"Hello there.","voice":"coral","instructions":"Whisper.","response_format":"wav","speed":1.5,"model":"gpt-4o-mini-tts"}',
      );
      const { authorization, accept, 'content-type': type } = request?.headers ?? {};
      assert.deepEqual(
        [authorization, accept, type],
        [`Bearer ${KEY}`, 'application/octet-stream', 'application/json'],
      );
    },
    { apiKey: KEY },
  ));

test('a server without a key is sent no authorization', () =>
  withSpeech(async (emulator, upstream) => {
    await spoken({}, upstream);
    assert.equal(emulator.requests[0]?.headers.authorization, undefined);
  }));

describe('R-378 who speaks, what and how', () => {
  const SENT: readonly [name: string, fields: Fields, sent: object][] = [
    ['nothing but words', {}, { input: 'Hello there.', voice: 'alloy' }],
    ['a voice by its id', { referenceId: 'voice_1' }, { input: 'Hello there.', voice: { id: 'voice_1' } }],
    ['lyrics alone', { input: undefined, lyrics: 'La la' }, { input: 'La la', voice: 'alloy' }],
    ['empty fields', { prompt: '', lyrics: '' }, { input: 'Hello there.', voice: 'alloy' }],
    ['flags that ask for nothing', { loop: false, instrumental: false }, { input: 'Hello there.', voice: 'alloy' }],
  ];
  for (const [name, fields, sent] of SENT) {
    test(`${name}`, () =>
      withSpeech(async (emulator, upstream) => {
        await spoken(fields, upstream);
        assert.deepEqual(emulator.speeches, [{ model: 'gpt-4o-mini-tts', ...sent }]);
      }));
  }
});

describe('R-379 every format is made, and is what it is called', () => {
  const FORMATS = { mp3: 'mp3', wav: 'wav', opus: 'ogg', flac: 'flac', aac: 'aac', ogg: 'ogg' } as const;
  for (const [format, extension] of Object.entries(FORMATS)) {
    test(`${format}`, () =>
      withSpeech(async (emulator, upstream) => {
        const request = { format: format as keyof typeof FORMATS };
        assert.equal(sniff(await spoken(request, upstream))?.extension, extension);
        assert.equal(emulator.speeches[0]?.response_format, format === 'ogg' ? 'opus' : format);
        const { samples } = await speech.speak(soundRequest(request), upstream);
        assert.equal(samples, undefined);
      }));
  }

  test('pcm has no header, so its rate is told beside it', () =>
    withSpeech(async (_emulator, upstream) => {
      const { pieces, samples } = await speech.speak(soundRequest({ format: 'pcm' }), upstream);
      const bytes = Buffer.concat(await Array.fromAsync(pieces));
      assert.deepEqual([samples, bytes.length], [{ rate: 24_000, channels: 1 }, 24_000]);
    }));
});

test('R-387 fields that are not modelled are passed on as they were written', () =>
  withSpeech(
    async (emulator, upstream) => {
      const text = '{"big":9007199254740993,"one":1.0,"deep":{"x":[1e400,null]},"instructions":"Calmly."}';
      const extra = parseJson(text).exact() as SoundRequest<Media>['extra'];
      await spoken({ extra }, { ...upstream, model: 'kokoro' });
      assert.equal(
        emulator.requests[0]?.bytes.toString(),
        `${text.slice(0, -1)},"input":"Hello there.","model":"kokoro"}`,
      );
    },
    { isLenient: true },
  ));

test('R-380 R-384 a server that only speaks the format is sent all that was asked for', () =>
  withSpeech(
    async (emulator, upstream) => {
      const fields: Fields = {
        voice: 'af_sky',
        language: 'fr',
        volume: 0.5,
        loudness: -14,
        guidanceScale: 3,
        promptInfluence: 0.2,
        sampleRate: 16_000,
        bitrate: 64,
        durationSeconds: 2.5,
        seed: 7,
        instrumental: false,
        loop: true,
        autoGenerateText: false,
        voiceDescription: 'old and slow',
        speed: 3,
        format: 'pcm',
      };
      const { samples } = await speech.speak(soundRequest(fields), { ...upstream, model: 'org/kokoro' });
      assert.deepEqual(samples, { rate: 16_000, channels: 1 });
      assert.deepEqual(emulator.speeches, [
        {
          model: 'org/kokoro',
          input: 'Hello there.',
          voice: 'af_sky',
          response_format: 'pcm',
          speed: 3,
          voice_description: 'old and slow',
          language: 'fr',
          volume: 0.5,
          loudness: -14,
          guidance_scale: 3,
          prompt_influence: 0.2,
          sample_rate: 16_000,
          bitrate: 64,
          duration_seconds: 2.5,
          seed: 7,
          instrumental: false,
          loop: true,
          auto_generate_text: false,
        },
      ]);
    },
    { isLenient: true },
  ));

const SAMPLE = inMemoryMedia(Buffer.from('RIFF'), 'audio/wav');
const LONG = 'a'.repeat(4097);

describe('what a model cannot take is refused before anything is sent, by its name', () => {
  const ANYWHERE: readonly [field: string, fields: Fields][] = [
    ['prompt', { input: undefined, prompt: 'A calm voice' }],
    ['voice_description', { input: undefined, voiceDescription: 'An old man' }],
    ['lyrics', { lyrics: 'La la' }],
    ['reference_id', { voice: 'alloy', referenceId: 'voice_1' }],
    ['stream', { extra: { stream: true } }],
    ['stream_format', { extra: { stream_format: 'sse' } }],
    ['input', { input: LONG, format: 'wav' }],
    ['input', { input: LONG, format: 'flac' }],
    ['input', { input: LONG, format: 'opus' }],
    ['input', { input: LONG, format: 'ogg' }],
  ];
  const AUTHORS: readonly [field: string, fields: Fields][] = [
    ['reference_audio', { referenceAudio: [SAMPLE] }],
    ['speed', { speed: 0.24 }],
    ['speed', { speed: 4.01 }],
    ['voice_description', { voiceDescription: 'An old man' }],
    ['language', { language: 'fr' }],
    ['volume', { volume: 1 }],
    ['loudness', { loudness: 0 }],
    ['guidance_scale', { guidanceScale: 1 }],
    ['prompt_influence', { promptInfluence: 0 }],
    ['sample_rate', { sampleRate: 44_100 }],
    ['sample_rate', { sampleRate: 24_000, format: 'opus' }],
    ['bitrate', { bitrate: 128 }],
    ['duration_seconds', { durationSeconds: 3 }],
    ['seed', { seed: 0 }],
    ['instrumental', { instrumental: true }],
    ['loop', { loop: true }],
    ['auto_generate_text', { autoGenerateText: true }],
  ];
  const refused = (field: string) => ({ code: 'unsupported_parameter', message: new RegExp(`"${field}"`) });
  for (const [field, fields] of ANYWHERE) {
    test(`${field} ${JSON.stringify(fields).slice(0, 60)}, by any server`, () => {
      for (const model of ['gpt-4o-mini-tts', 'kokoro']) {
        assert.throws(() => speech.check(soundRequest(fields), model), refused(field));
      }
    });
  }
  for (const [field, fields] of AUTHORS) {
    test(`${field} ${JSON.stringify(fields)}, by the format's author alone`, () => {
      const request = soundRequest(fields);
      for (const model of ['tts-1', 'openai/tts-1-hd', 'gpt-4o-mini-tts-2025-12-15']) {
        assert.throws(() => speech.check(request, model), refused(field));
      }
      speech.check(request, 'kokoro');
    });
  }

  test('directions, by the models that take none', () => {
    const request = soundRequest({ prompt: 'Softly' });
    assert.throws(() => speech.check(request, 'tts-1-hd'), refused('prompt'));
    speech.check(request, 'gpt-4o-mini-tts');
  });

  test('and what is at its bound is taken', () => {
    const bounds: Fields[] = [
      { speed: 0.25 },
      { speed: 4 },
      { sampleRate: 24_000, format: 'pcm' },
      { sampleRate: 48_000, format: 'ogg' },
      { input: 'a'.repeat(4096), format: 'wav' },
      { input: '🎈'.repeat(4096), format: 'flac' },
      { input: LONG, format: 'pcm' },
      { extra: { stream: false, stream_format: 'audio' } },
    ];
    for (const fields of bounds) speech.check(soundRequest(fields), 'gpt-4o-mini-tts');
  });
});

describe('a text that is too long for one call', () => {
  const sentences = Array.from({ length: 900 }, (_, at) => `This is sentence number ${at}.`);

  test('is said in several, cut behind sentences, and nothing of it is lost', () =>
    withSpeech(async (emulator, upstream) => {
      await spoken({ input: sentences.join(' ') }, upstream);
      const inputs = emulator.speeches.map(({ input }) => String(input));
      assert.equal(inputs.join(''), sentences.join(' '));
      assert.equal(inputs.length, 7);
      for (const input of inputs) assert.match(input, /\.\s*$/);
      for (const { response_format: format } of emulator.speeches) assert.equal(format, 'mp3');
    }));

  test('is one call at 4096 characters, however many bytes they are, and two at one more', () =>
    withSpeech(async (emulator, upstream) => {
      await spoken({ input: '🎈'.repeat(4096) }, upstream);
      assert.deepEqual([emulator.speeches.length, emulator.speeches[0]?.response_format], [1, undefined]);
      await spoken({ input: '🎈'.repeat(4097) }, upstream);
      const lengths = emulator.speeches.slice(1).map(({ input }) => countCharacters(String(input)));
      assert.deepEqual(lengths, [4096, 1]);
    }));

  for (const format of ['mp3', 'aac'] as const) {
    test(`in ${format} is as long as its parts together`, () =>
      withSpeech(async (emulator, upstream) => {
        const whole = await spoken({ input: sentences.join(' '), format }, upstream);
        const [one, sniffed] = [await soundAs(format), sniff(whole)];
        assert.ok(sniffed);
        const [all, part] = await Promise.all([whole, one].map((bytes) => measure(byteSourceOf(bytes), sniffed)));
        const expected = (part?.seconds ?? 0) * emulator.speeches.length;
        assert.ok(Math.abs((all?.seconds ?? 0) - expected) < 0.01, `${all?.seconds} and not ${expected}`);
      }));
  }

  test('in pcm is its parts one behind the other', () =>
    withSpeech(async (emulator, upstream) => {
      const whole = await spoken({ input: sentences.slice(0, 200).join(' '), format: 'pcm' }, upstream);
      const part = await soundAs('pcm');
      assert.equal(emulator.speeches.length, 2);
      assert.deepEqual(whole, Buffer.concat([part, part]));
    }));

  test('asks for the next part only when the one before is through', () =>
    withSpeech(async (emulator, upstream) => {
      const { pieces } = await speech.speak(soundRequest({ input: sentences.join(' ') }), upstream);
      assert.equal(emulator.requests.length, 1);
      for await (const _piece of pieces) break;
      assert.equal(emulator.requests.length, 1);
    }));
});

test('a sound is handed on while it is made', () =>
  withSpeech(async (emulator, upstream) => {
    const gate = Promise.withResolvers<void>();
    async function* slowly() {
      yield Buffer.from('first');
      await gate.promise;
      yield Buffer.from('second');
    }
    emulator.script({ kind: 'sound', pieces: slowly() });
    const { pieces } = await speech.speak(soundRequest(), upstream);
    const got: string[] = [];
    for await (const piece of pieces) {
      got.push(piece.toString());
      gate.resolve();
    }
    assert.deepEqual(got, ['first', 'second']);
  }));

test('whoever stops listening lets the upstream go', () =>
  withSpeech(async (emulator, upstream) => {
    emulator.script({ kind: 'sound', pieces: [Buffer.from('first')], end: 'silence' });
    const { pieces } = await speech.speak(soundRequest(), upstream);
    for await (const _piece of pieces) break;
    assert.equal(await emulator.requests[0]?.isAbandoned, true);
  }));

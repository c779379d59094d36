import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toneAs } from '../../../test/support/media-samples.ts';
import { plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import type { SoundRequest, TranscriptionRequest } from '../../schemas/index.ts';
import { type AudioFile, inMemoryMedia, type Media, type Upstream } from '../index.ts';
import { KEY, MARKER, speech, transcription, withEmulator } from './emulator/calls.ts';

type Sound = SoundRequest<Media>;

const sample = inMemoryMedia(Buffer.from('sample!'), 'audio/wav');
const SAMPLE_URI = `data:audio/wav;base64,${Buffer.from('sample!').toString('base64')}`;
const spoken = (fields: Partial<Sound> = {}) => plainSound({ input: 'Hello there.', ...fields });

function refused(field: string) {
  return (error: unknown) => error instanceof ApiError && error.param === field;
}

describe('speech', () => {
  const SENT: readonly [model: string, asked: Partial<Sound>, input: object][] = [
    [
      'fal-ai/elevenlabs/tts/multilingual-v2',
      { voice: 'Rachel', speed: 1.1, language: 'en', format: 'mp3', extra: { stability: 0.4 } },
      { text: 'Hello there.', voice: 'Rachel', speed: 1.1, language_code: 'en', stability: 0.4 },
    ],
    ['fal-ai/elevenlabs/tts/eleven-v3', { referenceId: 'Aria' }, { text: 'Hello there.', voice: 'Aria' }],
    ['fal-ai/minimax/speech-02-hd', {}, { text: 'Hello there.', output_format: 'url' }],
    [
      'fal-ai/minimax/speech-02-hd',
      { voice: 'Wise_Woman', speed: 1.5, volume: 2, format: 'flac', sampleRate: 44_100, bitrate: 128 },
      {
        text: 'Hello there.',
        output_format: 'url',
        voice_setting: { voice_id: 'Wise_Woman', speed: 1.5, vol: 2 },
        audio_setting: { format: 'flac', sample_rate: '44100', bitrate: '128000' },
      },
    ],
    [
      'fal-ai/kokoro/american-english',
      { voice: 'af_sky', speed: 2 },
      { prompt: 'Hello there.', voice: 'af_sky', speed: 2 },
    ],
    [
      'fal-ai/chatterbox/text-to-speech',
      { seed: 3, referenceAudio: [sample] },
      { text: 'Hello there.', seed: 3, audio_url: SAMPLE_URI },
    ],
    [
      'fal-ai/f5-tts',
      { referenceAudio: [sample] },
      { gen_text: 'Hello there.', ref_audio_url: SAMPLE_URI, model_type: 'F5-TTS' },
    ],
  ];
  for (const [model, asked, input] of SENT) {
    test(`${model} is asked for ${Object.keys(asked).join(', ') || 'a text'}`, () =>
      withEmulator({ isDirect: true }, async (emulator, upstream) => {
        speech.check(spoken(asked), model);
        const { url, pieces } = await speech.speak(spoken(asked), { ...upstream, model });
        const [task = assert.fail()] = emulator.tasks;
        assert.equal(url, `${emulator.files.url}/files/${task.id}/${MARKER}.mp3`);
        assert.deepEqual(await Array.fromAsync(pieces), []);
        assert.deepEqual(task.input, input);
        assert.equal(emulator.requests[0]?.headers.authorization, `Key ${KEY}`);
        assert.deepEqual(emulator.files.requests, [], 'the file is for the guarded fetch');
      }));
  }

  test('it is asked of the direct host where the upstream is the vendor’s queue', () =>
    withEmulator({ isDirect: true }, async (_emulator, upstream, pools) => {
      const model = 'fal-ai/kokoro/american-english';
      for (const address of ['https://queue.fal.run', 'https://fal.run', 'https://gate.example'])
        await speech.speak(spoken(), { ...upstream, model, address });
      assert.deepEqual(pools.origins, ['https://fal.run', 'https://fal.run', 'https://gate.example']);
    }));

  test('sound inside the answer is taken from it', () =>
    withEmulator({ isDirect: true }, async (emulator, upstream) => {
      emulator.outcome({ kind: 'success', change: () => ({ audio: { url: SAMPLE_URI } }) });
      const said = await speech.speak(spoken(), { ...upstream, model: 'fal-ai/kokoro/american-english' });
      assert.deepEqual(Buffer.concat(await Array.fromAsync(said.pieces)), Buffer.from('sample!'));
    }));

  test('an answer without sound is garbled, and a refusal is its fault', () =>
    withEmulator({ isDirect: true }, async (emulator, upstream) => {
      const speak = () => speech.speak(spoken(), { ...upstream, model: 'fal-ai/kokoro/american-english' });
      emulator.outcome({ kind: 'success', change: () => ({}) });
      await assert.rejects(speak(), { fault: 'garbled' });
      for (const [error, fault] of [
        ['policy', 'policy'],
        ['locked', 'account'],
        ['throttled', 'rate'],
        ['runnerBroken', 'server'],
      ] as const) {
        emulator.script('submit', { kind: 'error', error });
        await assert.rejects(speak(), { fault });
      }
    }));

  const REFUSED: readonly [model: string, asked: Partial<Sound>, field: string][] = [
    ['fal-ai/elevenlabs/tts/eleven-v3', { speed: 1.1 }, 'speed'],
    ['fal-ai/elevenlabs/tts/turbo-v2.5', { format: 'wav' }, 'response_format'],
    ['fal-ai/elevenlabs/tts/turbo-v2.5', { input: undefined, prompt: 'x' }, 'input'],
    ['fal-ai/elevenlabs/tts/turbo-v2.5', { prompt: 'x' }, 'prompt'],
    ['fal-ai/elevenlabs/tts/turbo-v2.5', { voice: 'a', referenceId: 'b' }, 'reference_id'],
    ['fal-ai/elevenlabs/tts/turbo-v2.5', { extra: { sync_mode: true } }, 'sync_mode'],
    ['fal-ai/elevenlabs/tts/turbo-v2.5', { extra: { output_format: 'x' } }, 'output_format'],
    ['fal-ai/minimax/speech-02-hd', { format: 'pcm' }, 'response_format'],
    ['fal-ai/minimax/speech-02-hd', { language: 'en' }, 'language'],
    ['fal-ai/kokoro/french', { seed: 1 }, 'seed'],
    ['fal-ai/chatterbox/text-to-speech', { referenceAudio: [sample, sample] }, 'reference_audio'],
    ['fal-ai/dia-tts', { voice: 'x' }, 'voice'],
    ['any/voice', { lyrics: 'x' }, 'lyrics'],
  ];
  for (const [model, asked, field] of REFUSED) {
    test(`${model} refuses ${field}`, () => {
      assert.throws(() => speech.check(spoken(asked), model), refused(field));
    });
  }
});

const wave = await toneAs('wav', { seconds: 1, sampleRate: 16_000 });
const AUDIO: AudioFile = { ...inMemoryMedia(wave, 'audio/wav'), extension: 'wav', seconds: 1 };
const AUDIO_URI = `data:audio/wav;base64,${wave.toString('base64')}`;

describe('transcription', () => {
  const asked = (fields: Partial<TranscriptionRequest>) => plainTranscription(fields);

  async function heard(request: TranscriptionRequest, upstream: Upstream) {
    transcription.check(request, upstream.model);
    const submitted = await transcription.submit(request, AUDIO, upstream);
    assert.ok(submitted.state === 'accepted');
    // A task is stored as JSON between two polls.
    const task = JSON.parse(JSON.stringify(submitted.task));
    return () => Promise.resolve(transcription.poll?.(task, upstream));
  }

  const SHAPES: readonly [string, request: Partial<TranscriptionRequest>, input: object, transcript: object][] = [
    [
      'fal-ai/whisper',
      { language: 'jv', prompt: 'Names: Ada', extra: { diarize: 'true' } },
      { task: 'transcribe', language: 'jw', prompt: 'Names: Ada', diarize: true, chunk_level: 'segment' },
      {
        language: 'en',
        segments: [
          { text: ' Hello there.', start: 0, end: 0.9 },
          { text: ' Hi.', start: 1.2, end: 1.4 },
        ],
      },
    ],
    [
      'fal-ai/wizper',
      { granularities: ['word'] },
      { task: 'transcribe', language: null, chunk_level: 'word' },
      {
        language: 'en',
        words: [
          { word: 'Hello', start: 0, end: 0.4 },
          { word: 'there.', start: 0.4, end: 0.9 },
          { word: 'Hi.', start: 1.2, end: 1.4 },
        ],
      },
    ],
    ['fal-ai/speech-to-text', {}, {}, { language: undefined }],
  ];
  for (const [model, fields, input, transcript] of SHAPES) {
    test(`${model} is a task whose result has its own shape`, () =>
      withEmulator({ readsUntilDone: 1 }, async (emulator, upstream) => {
        const poll = await heard(asked(fields), { ...upstream, model });
        assert.deepEqual(emulator.tasks[0]?.input, { ...input, audio_url: AUDIO_URI });
        assert.deepEqual(await poll(), { state: 'running' });
        const whole = { text: 'Hello there. Hi.', ...transcript };
        assert.deepEqual(await poll(), { state: 'transcribed', transcript: whole });
      }));
  }

  test('words of the kind that tells speakers apart have segments too', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      const model = 'fal-ai/elevenlabs/speech-to-text/scribe-v2';
      const poll = await heard(asked({ language: 'en' }), { ...upstream, model });
      assert.deepEqual(emulator.tasks[0]?.input, { language_code: 'en', diarize: false, audio_url: AUDIO_URI });
      const progress = await poll();
      assert.ok(progress?.state === 'transcribed');
      assert.deepEqual([progress.transcript.words?.length, progress.transcript.language], [3, 'en']);
    }));

  test('a run that failed has its fault, and one that is unknown is lost', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      const to = { ...upstream, model: 'fal-ai/whisper' };
      for (const [error, code] of [
        ['invalid', 'upstream_rejected'],
        ['policy', 'content_rejected'],
        ['runnerBroken', 'upstream_failed'],
      ] as const) {
        emulator.outcome({ kind: 'failure', error });
        const progress = await (await heard(asked({}), to))();
        assert.ok(progress?.state === 'failed');
        assert.equal(progress.code, code);
      }
      const poll = await heard(asked({}), to);
      emulator.tasks.length = 0;
      assert.deepEqual(await poll(), { state: 'lost' });
    }));

  test('an address that is not the vendor’s is never sent the key', () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script('submit', {
        kind: 'changed',
        change: (document) => ({ ...document, status_url: 'https://elsewhere.example/status' }),
      });
      const submitting = transcription.submit(asked({}), AUDIO, { ...upstream, model: 'fal-ai/whisper' });
      await assert.rejects(submitting, { fault: 'garbled', isUncertain: true });
    }));

  const REFUSED: readonly [model: string, fields: Partial<TranscriptionRequest>, field: string][] = [
    ['fal-ai/whisper', { temperature: 0 }, 'temperature'],
    ['fal-ai/wizper', { prompt: 'x' }, 'prompt'],
    ['fal-ai/speech-to-text', { language: 'en' }, 'language'],
    ['fal-ai/whisper', { extra: { audio_url: 'https://example.com/a.mp3' } }, 'audio_url'],
    ['fal-ai/whisper', { extra: { task: 'translate' } }, 'task'],
    ['fal-ai/whisper', { extra: { chunk_level: 'none' } }, 'chunk_level'],
  ];
  for (const [model, fields, field] of REFUSED) {
    test(`${model} refuses ${field}`, () => {
      assert.throws(() => transcription.check(asked(fields), model), refused(field));
    });
  }
});

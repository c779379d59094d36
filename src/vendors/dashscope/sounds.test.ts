import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import type { SoundRequest, TranscriptionRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { type AudioFile, inMemoryMedia, type Media, type Upstream } from '../index.ts';
import { isFault, KEY, speech, transcription, withEmulator } from './emulator/calls.ts';

const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation';
const VOICE = 'qwen3-tts-flash';
const EARS = 'qwen3-asr-flash';
const recording: AudioFile = { ...inMemoryMedia(Buffer.from('abc'), 'audio/wav'), extension: 'wav', seconds: 2 };

function isRefused(message: string): (error: unknown) => boolean {
  return (error) => error instanceof ApiError && error.code === 'unsupported_parameter' && error.message === message;
}

describe('speech', () => {
  const speak = async (upstream: Upstream, fields: Partial<SoundRequest<Media>> = {}) => {
    const request = plainSound({ input: 'Hello', voice: 'Cherry', ...fields });
    speech.check(request, upstream.model);
    const { pieces, ...spoken } = await speech.speak(request, upstream);
    return { ...spoken, bytes: Buffer.concat(await Array.fromAsync(pieces)).toString() };
  };

  test('is told by its link, without the header of tasks', () =>
    withEmulator(VOICE, async (emulator, upstream) => {
      const spoken = await speak(upstream, { language: 'en-US', format: 'wav', sampleRate: 24_000 });
      assert.deepEqual(spoken, { url: `${emulator.origin}/files/sound?Signature=s`, characters: 5, bytes: '' });
      const [sent] = emulator.requests;
      assert.deepEqual(
        [sent?.method, sent?.path, sent?.headers.authorization, sent?.headers['x-dashscope-async']],
        ['POST', GENERATION, `Bearer ${KEY}`, undefined],
      );
      const input = { text: 'Hello', voice: 'Cherry', language_type: 'English' };
      assert.deepEqual(emulator.submissions, [{ model: VOICE, input, parameters: {} }]);
    }));

  test('within the answer is taken from there', () =>
    withEmulator(VOICE, async (emulator, upstream) => {
      const audio = { url: '', data: Buffer.from('sound').toString('base64') };
      emulator.script({ kind: 'instead', ...json(200, { output: { audio } }) });
      assert.deepEqual(await speak(upstream, { voice: undefined, referenceId: 'Ethan' }), { bytes: 'sound' });
    }));

  test('without sound is garbled', () =>
    withEmulator(VOICE, async (emulator, upstream) => {
      for (const body of [{}, { output: { audio: null } }, { output: { audio: { url: '', data: '' } } }]) {
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(speak(upstream), isFault('garbled'));
      }
    }));

  test('that moderation refuses, and an account in debt', () =>
    withEmulator(VOICE, async (emulator, upstream) => {
      await assert.rejects(speak(upstream, { input: emulator.forbidden }), isFault('policy'));
      emulator.isInArrears = true;
      await assert.rejects(speak(upstream), isFault('account'));
    }));

  const REFUSED: readonly (readonly [fields: Partial<SoundRequest<Media>>, message: string])[] = [
    [{ input: undefined }, '"input": this model takes at least 1 character.'],
    [{ input: 'x'.repeat(601) }, '"input": this model takes at most 600 characters.'],
    [{ voice: undefined }, '"voice": this model takes at least 1.'],
    [{ referenceId: 'Ethan' }, '"reference_id": this model does not take it together with "voice".'],
    [{ format: 'mp3' }, '"response_format": this model takes wav.'],
    [{ sampleRate: 16_000 }, '"sample_rate": this model takes 24000.'],
    [{ language: 'sw' }, '"language": this model takes zh, en, de, it, pt, es, ja, ko, fr, ru.'],
    [{ speed: 2 }, '"speed": this model takes none.'],
    [{ volume: 2 }, '"volume": this model takes none.'],
    [{ bitrate: 128 }, '"bitrate": this model takes none.'],
    [{ seed: 1 }, '"seed": this model takes none.'],
    [{ prompt: 'x' }, '"prompt": this model takes none.'],
    [{ extra: { stream: true } }, '"stream": this model takes none.'],
    [{ extra: { messages: [] } }, '"messages": this model takes none.'],
  ];
  for (const [fields, message] of REFUSED) {
    test(message, () =>
      assert.throws(
        () => speech.check(plainSound({ input: 'Hello', voice: 'Cherry', ...fields }), VOICE),
        isRefused(message),
      ),
    );
  }
});

describe('a transcript', () => {
  const hear = (upstream: Upstream, fields: Partial<TranscriptionRequest> = {}) => {
    const request = plainTranscription(fields);
    transcription.check(request, upstream.model);
    return transcription.submit(request, recording, upstream);
  };

  test('comes with the answer, with its language and its length', () =>
    withEmulator(EARS, async (emulator, upstream) => {
      const transcript = { text: 'A toll gate.', language: 'en', seconds: 2 };
      assert.deepEqual(await hear(upstream), { state: 'transcribed', transcript });
      const [sent] = emulator.requests;
      assert.deepEqual([sent?.path, sent?.headers['x-dashscope-async']], [GENERATION, undefined]);
      const audio = 'data:audio/wav;base64,YWJj';
      const messages = [{ role: 'user', content: [{ audio }] }];
      assert.deepEqual(emulator.submissions, [{ model: EARS, input: { messages }, parameters: { asr_options: {} } }]);
    }));

  test('is helped by a language, by words to expect and by the vendor’s own options', () =>
    withEmulator(EARS, async (emulator, upstream) => {
      await hear(upstream, { language: 'German', prompt: 'Tollgate', extra: { enable_itn: 'true' } });
      const [sent] = emulator.submissions as { input: { messages: unknown[] }; parameters: object }[];
      assert.deepEqual(sent?.input.messages[0], { role: 'system', content: [{ text: 'Tollgate' }] });
      assert.deepEqual(sent?.parameters, { asr_options: { enable_itn: true, language: 'de' } });
    }));

  test('of silence is empty', () =>
    withEmulator(EARS, async (emulator, upstream) => {
      emulator.script({ kind: 'instead', ...json(200, { output: { choices: [{ message: { content: [] } }] } }) });
      const transcript = { text: '', language: undefined, seconds: undefined };
      assert.deepEqual(await hear(upstream), { state: 'transcribed', transcript });
    }));

  test('that an account in debt asks for is its fault', () =>
    withEmulator(EARS, async (emulator, upstream) => {
      emulator.isInArrears = true;
      await assert.rejects(hear(upstream), isFault('account'));
    }));

  const REFUSED: readonly (readonly [fields: Partial<TranscriptionRequest>, message: string])[] = [
    [{ temperature: 0 }, '"temperature": this model takes none.'],
    [{ granularities: ['word'] }, '"timestamp_granularities": this model takes none.'],
    [{ language: '?' }, '"language": this model does not take this value.'],
    [{ extra: { file_urls: ['x'] } }, '"file_urls": this model takes none.'],
    [{ extra: { asr_options: {} } }, '"asr_options": this model takes none.'],
  ];
  for (const [fields, message] of REFUSED) {
    test(message, () => assert.throws(() => transcription.check(plainTranscription(fields), EARS), isRefused(message)));
  }
});

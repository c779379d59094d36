import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import { json } from '../emulator/json.ts';
import { type AudioFile, inMemoryMedia } from '../index.ts';
import { isFault, versioned, withEmulator } from './emulator/calls.ts';
import { work as replicate } from './work.ts';

const speech = replicate.speech ?? assert.fail('the vendor speaks');
const transcription = replicate.transcription ?? assert.fail('the vendor transcribes');
const HD = 'minimax/speech-02-hd';
const WHISPER = versioned('openai/whisper');
const AUDIO: AudioFile = { ...inMemoryMedia(Buffer.from('mp3'), 'audio/mpeg'), extension: 'mp3', seconds: 1 };
const DATA = 'data:audio/mpeg;base64,bXAz';

describe('speech', () => {
  const said = plainSound({ input: 'Pay here.', voice: 'Wise_Woman' });

  test('is waited for on the line, with a deadline of its own', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const request = { ...said, speed: 1.5, language: 'de', bitrate: 128, format: 'flac' } as const;
      speech.check(request, HD);
      const { url } = await speech.speak(request, upstream(HD));
      assert.equal(url, `${emulator.origin}/delivery/prediction-1/0`);
      const [{ headers } = assert.fail()] = emulator.requests;
      assert.deepEqual([headers.prefer, headers['cancel-after']], ['wait=59', '59s']);
      assert.deepEqual(emulator.submissions[0]?.input, {
        text: 'Pay here.',
        voice_id: 'Wise_Woman',
        speed: 1.5,
        language_boost: 'German',
        bitrate: 128_000,
        audio_format: 'flac',
      });
    }));

  test('by a voice of its own model', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await speech.speak(plainSound({ input: 'x', referenceId: 'af_bella' }), upstream(versioned('jaaari/kokoro-82m')));
      assert.deepEqual(emulator.submissions[0]?.input, { text: 'x', voice: 'af_bella' });
    }));

  test('that is late has brought nothing; what failed says why', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.isSlow = true;
      await assert.rejects(speech.speak(said, upstream(HD)), isFault('timeout'));
      emulator.isSlow = false;
      emulator.endings.push({ error: 'The input was flagged as sensitive (E005)' }, { error: 'boom' });
      await assert.rejects(speech.speak(said, upstream(HD)), isFault('policy', { isUncertain: false }));
      await assert.rejects(speech.speak(said, upstream(HD)), isFault('server'));
      emulator.hasCredit = false;
      await assert.rejects(speech.speak(said, upstream(HD)), isFault('account'));
    }));

  test('may come inside the answer', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.script({ kind: 'instead', ...json(201, { id: 'p', status: 'succeeded', output: DATA }) });
      const { pieces, url } = await speech.speak(said, upstream(HD));
      assert.deepEqual([await Array.fromAsync(pieces), url], [[Buffer.from('mp3')], undefined]);
    }));

  test('refuses what the model cannot take', () => {
    const message = (fields: Parameters<typeof plainSound>[0], model = HD) => {
      try {
        speech.check({ ...said, ...fields }, model);
      } catch (error) {
        return (error as Error).message;
      }
      return 'taken';
    };
    assert.equal(message({ format: 'opus' }), '"response_format": this model takes mp3, wav, flac, pcm.');
    assert.equal(message({ format: 'wav' }, 'minimax/speech-2.6-hd'), 'taken');
    assert.equal(message({ format: 'wav' }, 'elevenlabs/v3'), '"response_format": this model takes mp3.');
    assert.equal(message({ input: 'x'.repeat(10_001) }), '"input": this model takes at most 10000 characters.');
    assert.equal(message({ bitrate: 96 }), '"bitrate": this model takes 32000, 64000, 128000, 256000.');
    assert.equal(message({ speed: 3 }), '"speed": this model takes 0.5 to 2.');
    assert.equal(message({ referenceId: 'r' }), '"reference_id": this model does not take it together with "voice".');
    assert.equal(message({ input: undefined }), '"input": this model takes at least 1 character.');
  });
});

describe('transcription', () => {
  test('is a prediction whose id is all that is remembered', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const request = plainTranscription({ language: 'en', prompt: 'Toll', temperature: 0.5 });
      transcription.check(request, WHISPER);
      const submitted = await transcription.submit(request, AUDIO, upstream(WHISPER));
      assert.deepEqual(submitted, { state: 'accepted', task: { id: 'prediction-1' } });
      assert.deepEqual(emulator.submissions[0], {
        version: WHISPER,
        input: {
          audio: DATA,
          transcription: 'plain text',
          translate: false,
          language: 'en',
          initial_prompt: 'Toll',
          temperature: 0.5,
        },
      });
      const task = { id: 'prediction-1' };
      assert.deepEqual(await transcription.poll?.(task, upstream(WHISPER)), { state: 'running' });
      const segments = [{ start: 0, end: 1.5, text: ' Pay here.', noSpeechProbability: 0.01 }];
      assert.deepEqual(await transcription.poll?.(task, upstream(WHISPER)), {
        state: 'transcribed',
        transcript: { text: 'Pay here.', language: 'en', segments },
      });
    }));

  test('in other shapes', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.readsUntilDone = 0;
      const read = async (model: string, fields: Parameters<typeof plainTranscription>[0] = {}) => {
        const submitted = await transcription.submit(plainTranscription(fields), AUDIO, upstream(model));
        assert.ok(submitted.state === 'accepted');
        return transcription.poll?.(submitted.task, upstream(model));
      };
      assert.deepEqual(await read('openai/gpt-4o-transcribe'), {
        state: 'transcribed',
        transcript: { text: 'Pay here.' },
      });
      const fast = versioned('vaibhavs10/incredibly-fast-whisper');
      assert.deepEqual(await read(fast), {
        state: 'transcribed',
        transcript: { text: 'Pay here.', language: undefined, segments: [{ start: 0, end: 1.5, text: ' Pay here.' }] },
      });
      await read(WHISPER, { task: 'translate' });
      assert.equal(emulator.submissions.at(-1)?.input.translate, true);
    }));

  test('that failed, and that is lost', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.readsUntilDone = 0;
      emulator.endings.push({ error: 'boom' });
      await transcription.submit(plainTranscription(), AUDIO, upstream(WHISPER));
      const failed = await transcription.poll?.({ id: 'prediction-1' }, upstream(WHISPER));
      assert.deepEqual(failed, { state: 'failed', code: 'upstream_failed', detail: 'failed: boom' });
      assert.deepEqual(await transcription.poll?.({ id: 'another' }, upstream(WHISPER)), { state: 'lost' });
    }));

  test('only some models write down in English', () => {
    assert.equal(transcription.translates?.(WHISPER), true);
    assert.equal(transcription.translates?.('openai/gpt-4o-transcribe'), false);
  });
});

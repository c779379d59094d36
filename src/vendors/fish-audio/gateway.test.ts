import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toneAs } from '../../../test/support/media-samples.ts';
import { paid, SPEECH_PRICE, VoiceBench } from '../../../test/support/voice-bench.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { FishAudioEmulator } from './emulator.ts';

// Speech, designed voices and transcripts in the whole program.
const bench = new VoiceBench<ErrorName, FishAudioEmulator>({
  vendor: 'fish-audio',
  apiKey: KEY,
  emulator: () => new FishAudioEmulator(KEY, MARKER),
  speech: 's2.1-pro',
  transcription: 'transcribe-1-pro',
  models: [{ id: 'studio/designer', accepts: { voice_design: true }, upstreamModel: 'voice-design-1' }],
  secrets: new RegExp(`${MARKER}|fish|s2\\.1|transcribe-1|speaker`),
  final: [
    ['unprocessable', 'upstream_rejected'],
    ['lostVoice', 'upstream_rejected'],
    ['moderated', 'content_rejected'],
  ],
  passing: ['busy', 'noCredit', 'noCreditInWords', 'highLoad', 'atTheEdge', 'tooLong'],
});
bench.testSpeech({ seed: 1 });
bench.testTranscription({ temperature: '0.5' });

test('R-378: a sample of a voice is checked here and sent as its bytes', async () => {
  const sample = await toneAs('wav', { seconds: 1, sampleRate: 16_000 });
  const answer = await bench.speak({ reference_audio: [`data:audio/wav;base64,${sample.toString('base64')}`] });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(bench.first.submissions[0]?.fields.references, [{ audio: sample, text: '' }]);
  assert.deepEqual(await bench.money(), paid(SPEECH_PRICE));
});

test('R-393: voices are designed in one request, charged once', async () => {
  const answer = await bench.speak({
    model: 'studio/designer',
    input: undefined,
    voice_description: 'A sassy squeaky mouse',
    output: 'b64_json',
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(bench.first.submissions.length, 1);
  assert.deepEqual(await bench.money(), paid(SPEECH_PRICE));
});

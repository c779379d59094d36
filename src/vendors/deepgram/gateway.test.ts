import { VoiceBench } from '../../../test/support/voice-bench.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { DeepgramEmulator } from './emulator.ts';

// Speech and transcripts in the whole program.
const bench = new VoiceBench<ErrorName, DeepgramEmulator>({
  vendor: 'deepgram',
  apiKey: KEY,
  emulator: () => new DeepgramEmulator(KEY, MARKER),
  speech: 'aura-2-thalia-en',
  transcription: 'nova-3',
  secrets: new RegExp(`${MARKER}|deepgram|aura|nova|dg-`),
  final: [['badOption', 'upstream_rejected']],
  passing: ['busy', 'noCredit', 'noCreditInWords', 'broken', 'tooLarge', 'brokenUpload'],
});
bench.testSpeech({ seed: 1 });
bench.testTranscription({ temperature: '0.5' });

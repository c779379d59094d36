import { VoiceBench } from '../../../test/support/voice-bench.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { CartesiaEmulator, VOICE } from './emulator.ts';

// Speech and transcripts in the whole program.
const bench = new VoiceBench<ErrorName, CartesiaEmulator>({
  vendor: 'cartesia',
  apiKey: KEY,
  emulator: () => new CartesiaEmulator(KEY, MARKER),
  speech: 'sonic-3.5',
  speechFields: { voice: VOICE },
  transcription: 'ink-whisper',
  secrets: new RegExp(`${MARKER}|cartesia|sonic|ink-whisper`),
  final: [
    ['invalid', 'upstream_rejected'],
    ['noVoice', 'upstream_rejected'],
    ['moderated', 'content_rejected'],
  ],
  passing: ['busy', 'noCredit', 'noCreditThrottled', 'noCreditInWords', 'broken', 'tooLarge'],
});
bench.testSpeech({ seed: 1 });
bench.testTranscription({ temperature: '0.5' });

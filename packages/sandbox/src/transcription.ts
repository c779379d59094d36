import { UpstreamError } from '../../../src/errors.ts';
import type { AudioFile, Transcript, TranscriptionWork, TranscriptWord } from '../../../src/vendors/vendor.ts';
import { type FailureCounts, injectFault } from './faults.ts';
import { isEnglish } from './speech.ts';
import { faultsIn, refuse } from './tasks.ts';
import type { Listener } from './voice/engines.ts';
import type { Sentence } from './voice/listener.ts';

const SECONDS_MAX = 1_800;

/** What is said in a recording, from the built-in recogniser. */
export function transcriptionWork(failures: FailureCounts, listener: Listener): TranscriptionWork {
  return {
    check(request) {
      const { language } = request;
      if (language !== undefined && !isEnglish(language)) refuse('language', { oneOf: ['en'] });
      faultsIn(request);
    },
    async submit(request, audio, upstream) {
      const bytes = () => JSON.stringify({ request, bytes: audio.bytes });
      await injectFault(faultsIn(request), upstream, failures, { bytes, isStream: false });
      if (audio.seconds > SECONDS_MAX) throw new UpstreamError('client', `it is longer than ${SECONDS_MAX} seconds`);
      const sentences: Sentence[] = [];
      for await (const sentence of listener.pieces(() => shared(audio), upstream)) sentences.push(sentence);
      return { state: 'transcribed', transcript: transcriptOf(sentences, audio.seconds) };
    },
  };
}

/** Where the thread can see it too, without a second copy. */
async function shared(audio: AudioFile): Promise<SharedArrayBuffer> {
  const bytes = new Uint8Array(new SharedArrayBuffer(audio.bytes));
  let at = 0;
  for await (const piece of audio.pieces()) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes.buffer;
}

function transcriptOf(sentences: readonly Sentence[], seconds: number): Transcript {
  const segments = sentences
    .filter(({ text }) => text !== '')
    .map(({ text, start, end }) => ({ text, start: rounded(start), end: rounded(Math.min(end, seconds)) }));
  return {
    text: segments.map(({ text }) => text).join(' '),
    language: 'en',
    seconds,
    segments,
    words: segments.flatMap(wordsOf),
    hasEstimatedTimes: true,
  };
}

/** The recogniser tells no times: each word is given as much of its sentence as it is long. */
function wordsOf({ text, start, end }: Sentence): TranscriptWord[] {
  const words = text.split(/\s+/);
  const secondsPerLetter = (end - start) / words.join('').length;
  let at = start;
  return words.map((word) => {
    const begin = at;
    at += word.length * secondsPerLetter;
    return { word, start: rounded(begin), end: rounded(at) };
  });
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import { amountAt, itemsAt, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { stateIn } from '../kit/queue.ts';
import { timedText } from '../kit/transcripts.ts';
import type { Failed, Transcript, TranscriptionProgress } from '../vendor.ts';
import { wire } from './wire.ts';

const STATES = { queued: 'running', processing: 'running', done: 'transcribed', error: 'failed' } as const;

export function progressOf(answer: JsonObject): TranscriptionProgress {
  const state = stateIn<(typeof STATES)[keyof typeof STATES]>(answer, STATES);
  switch (state) {
    case 'running':
      return { state };
    case 'failed':
      return failureOf(answer);
    case 'transcribed':
      return { state, transcript: transcriptOf(objectAt(answer, 'result')) };
  }
}

/** Told by the status that the request would have been refused with. */
function failureOf(answer: JsonObject): Failed {
  const code = amountAt(answer, 'error_code');
  const fault = code === undefined ? 'server' : wire.faults.ofRefusal(code, undefined);
  return failed(fault, `error code ${code ?? 'unknown'}`);
}

/** Times are in seconds. A text that is empty was silence. */
function transcriptOf(result: JsonObject | undefined): Transcript {
  const transcription = objectAt(result, 'transcription');
  const text = stringAt(transcription, 'full_transcript');
  if (text === undefined) throw new UpstreamError('garbled', 'a task that is done without a transcript');
  const [language] = itemsAt(transcription, 'languages');
  const utterances = objectsAt(transcription, 'utterances');
  const words = utterances
    .flatMap((utterance) => objectsAt(utterance, 'words'))
    .flatMap((entry) => timedText(entry, 'word') ?? []);
  return {
    text: text.trim(),
    language: typeof language === 'string' ? languageCode(language) : undefined,
    seconds: amountAt(objectAt(result, 'metadata'), 'audio_duration'),
    words: words.map(({ text: word, start, end }) => ({ word: word.trim(), start, end })),
    segments: utterances.flatMap((entry) => {
      const timed = timedText(entry, 'text');
      return timed === undefined ? [] : [{ ...timed, text: timed.text.trim() }];
    }),
  };
}

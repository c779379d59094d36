import type { JsonObject, JsonValue } from '../../json.ts';
import { amountAt, isList, isObject, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { timedChunk, timedText } from '../kit/transcripts.ts';
import type { Transcript, TranscriptSegment } from '../vendor.ts';

/** In any of the shapes of the vendor's models: a text, its pieces, or an object with times. */
export function transcriptOf(output: JsonValue | undefined): Transcript {
  if (typeof output === 'string') return { text: output };
  if (isList(output)) return { text: output.filter((piece) => typeof piece === 'string').join('') };
  return output !== undefined && isObject(output) ? transcriptOfObject(output) : { text: '' };
}

function transcriptOfObject(output: JsonObject): Transcript {
  const timed = objectsAt(output, 'segments').flatMap((segment) => toSegment(segment) ?? []);
  const chunks = objectsAt(output, 'chunks').flatMap((chunk) => timedChunk(chunk) ?? []);
  const segments = timed.length > 0 ? timed : chunks;
  return {
    text: stringAt(output, 'translation') ?? stringAt(output, 'transcription') ?? stringAt(output, 'text') ?? '',
    language: languageCode(stringAt(output, 'detected_language') ?? stringAt(output, 'language') ?? ''),
    // Without times there is nothing to tell.
    ...(segments.length > 0 && { segments }),
  };
}

function toSegment(segment: JsonObject): TranscriptSegment | undefined {
  const timed = timedText(segment, 'text');
  return timed && { ...timed, noSpeechProbability: amountAt(segment, 'no_speech_prob') };
}

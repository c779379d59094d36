import type { JsonObject, JsonValue } from '../../json.ts';
import { amountAt, isList, isObject, listAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { type TimedText, timedChunk, timedText } from '../kit/transcripts.ts';
import type { Transcript, TranscriptSegment } from '../vendor.ts';

/** In any of the shapes of the vendor's models: a text, its pieces, or an object with times. */
export function transcriptOf(output: JsonValue | undefined, areWords: boolean): Transcript {
  if (typeof output === 'string') return { text: output };
  if (isList(output)) return { text: output.filter((piece) => typeof piece === 'string').join('') };
  return output !== undefined && isObject(output) ? transcriptOfObject(output, areWords) : { text: '' };
}

function transcriptOfObject(output: JsonObject, areWords: boolean): Transcript {
  const segments = objectsAt(output, 'segments').flatMap((segment) => toSegment(segment) ?? []);
  const chunks = objectsAt(output, 'chunks').flatMap((chunk) => timedChunk(chunk) ?? []);
  const words = areWords ? chunks.map(toWord) : [];
  const times = listAt(output, 'segments') !== undefined ? segments : chunks.filter(() => !areWords);
  return {
    text: stringAt(output, 'translation') ?? stringAt(output, 'transcription') ?? stringAt(output, 'text') ?? '',
    language: languageCode(stringAt(output, 'detected_language') ?? stringAt(output, 'language') ?? ''),
    // Without times there is nothing to tell.
    ...(times.length > 0 && { segments: times }),
    ...(words.length > 0 && { words }),
  };
}

function toSegment(segment: JsonObject): TranscriptSegment | undefined {
  const timed = timedText(segment, 'text');
  return timed && { ...timed, noSpeechProbability: amountAt(segment, 'no_speech_prob') };
}

function toWord({ text, start, end }: TimedText) {
  return { word: text.trim(), start, end };
}

import type { JsonObject } from '../../json.ts';
import { itemsAt, listAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { type TimedText, timedChunk } from '../kit/transcripts.ts';
import { transcriptOfWords } from '../kit/word-transcripts.ts';
import type { Transcript } from '../vendor.ts';

/** In any of the shapes of the vendor's models. */
export function transcriptOfResult(result: JsonObject, areChunksWords: boolean): Transcript {
  if (listAt(result, 'words') !== undefined) return transcriptOfWords(result);
  const chunks = objectsAt(result, 'chunks').flatMap((chunk) => timedChunk(chunk) ?? []);
  const [language] = [...itemsAt(result, 'inferred_languages'), ...itemsAt(result, 'languages')];
  const times = areChunksWords ? { words: chunks.map(toWord) } : { segments: chunks };
  return {
    text: stringAt(result, 'text') ?? stringAt(result, 'output') ?? '',
    language: typeof language === 'string' ? languageCode(language) : undefined,
    // Without times there is nothing to tell.
    ...(chunks.length > 0 && times),
  };
}

function toWord({ text, start, end }: TimedText) {
  return { word: text.trim(), start, end };
}

/** Two letters of the vendor's own list, which writes Javanese in the old way. */
export function vendorCode(language: string): string {
  const code = languageCode(language) ?? language;
  return code === 'jv' ? 'jw' : code;
}

import type { JsonObject } from '../../json.ts';
import { amountAt, listAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { type TimedText, timedText } from '../kit/transcripts.ts';
import type { Transcript } from '../vendor.ts';

export function transcriptOf(task: JsonObject): Transcript {
  return {
    // A recording without speech has null, or nothing, in the place of a text.
    text: stringAt(task, 'text') ?? '',
    language: languageCode(stringAt(task, 'language_code') ?? ''),
    seconds: amountAt(task, 'audio_duration'),
    words: timedTexts(task, 'words')?.map(({ text: word, start, end }) => ({ word, start, end })),
  };
}

/** Times are told in milliseconds. What lacks one of them, or its text, is left out. */
export function timedTexts(task: JsonObject, key: string): TimedText[] | undefined {
  if (listAt(task, key) === undefined) return undefined;
  return objectsAt(task, key).flatMap((entry) => timedText(entry, 'text', 1000) ?? []);
}

/** This vendor's own codes, by what callers write. It knows few countries, and refuses a code that it does not know. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['en_us', 'en_us'],
  ['en_au', 'en_au'],
  ['en_gb', 'en_uk'],
  ['en_uk', 'en_uk'],
  ['de_ch', 'de_ch'],
  ['jv', 'jw'],
]);

/** `pt-BR` is asked for as `pt`. */
export function toVendorCode(language: string): string {
  const code = language.toLowerCase().replaceAll('-', '_');
  const [tongue = ''] = code.split('_');
  return CODES.get(code) ?? CODES.get(tongue) ?? tongue;
}

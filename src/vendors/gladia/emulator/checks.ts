import { isObject } from '../../emulator/json.ts';
import { type Check, isFlag, isOneOf, isText, wrongField } from '../../openai/emulator/checks.ts';
import { invalidField, type Refusal } from './errors.ts';

type Json = Readonly<Record<string, unknown>>;

const isLanguages: Check = (value) => Array.isArray(value) && value.every(isOneOf('en', 'de', 'fr', 'es', 'jw', 'haw'));

/** Every field of the vendor's library. */
export const FIELDS: Readonly<Record<string, Check>> = {
  custom_vocabulary: isFlag,
  custom_vocabulary_config: isObject,
  callback_url: isText,
  callback: isFlag,
  callback_config: isObject,
  subtitles: isFlag,
  subtitles_config: isObject,
  diarization: isFlag,
  diarization_config: isObject,
  translation: isFlag,
  translation_config: isObject,
  summarization: isFlag,
  summarization_config: isObject,
  named_entity_recognition: isFlag,
  custom_spelling: isFlag,
  custom_spelling_config: isObject,
  sentiment_analysis: isFlag,
  audio_to_llm: isFlag,
  audio_to_llm_config: isObject,
  pii_redaction: isFlag,
  pii_redaction_config: isObject,
  custom_metadata: isObject,
  sentences: isFlag,
  punctuation_enhanced: isFlag,
  language_config: isLanguageConfig,
  model: isOneOf('solaria-1', 'solaria-3', 'solaria-fusion'),
  audio_url: isText,
};

/** `uploads` are the addresses at which the vendor has recordings of its own. */
export function refusalOfTask(body: Json, uploads: ReadonlySet<string>): Refusal | undefined {
  const wrong = wrongField(body, FIELDS);
  if (wrong !== undefined) return invalidField(wrong);
  return uploads.has(String(body.audio_url)) ? undefined : invalidField('audio_url');
}

function isLanguageConfig(value: unknown): boolean {
  return isObject(value) && wrongField(value, { languages: isLanguages, code_switching: isFlag }) === undefined;
}

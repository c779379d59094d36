import { countCharacters } from '../../../text/index.ts';
import { isObject } from '../../emulator/json.ts';
import { type Check, isFlag, isOneOf, isText, isWhole, isWithin, wrongField } from '../../openai/emulator/checks.ts';
import { ERRORS, type Refusal, validationError } from './errors.ts';

type Json = Readonly<Record<string, unknown>>;
type Checks = Readonly<Record<string, Check>>;

const isTextWithin =
  (low: number, high: number): Check =>
  (value) =>
    isText(value) && isWithin(low, high)(countCharacters(String(value)));

/** Every field of the vendor's library. */
export const FIELDS: Checks = {
  context: isObject,
  format: (value) => isObject(value) && wrongField(value, { type: isOneOf('mp3', 'wav', 'pcm') }) === undefined,
  include_timestamp_types: Array.isArray,
  num_generations: (value) => isWhole(value) && isWithin(1, 5)(value),
  split_utterances: isFlag,
  strip_headers: isFlag,
  temperature: isWithin(0, 1),
  utterances: (value) => Array.isArray(value) && value.length > 0 && value.every(isUtterance),
  version: isOneOf('1', '2'),
  instant_mode: isFlag,
};

export const UTTERANCE: Checks = {
  text: isTextWithin(1, 5000),
  description: isTextWithin(0, 1000),
  speed: isWithin(0.5, 2),
  trailing_silence: isWithin(0, 5),
  voice: isVoice,
};

/** `library` and `own` are the names and ids of the voices of the two kinds. */
export function refusalOfSpeech(
  fields: Json,
  library: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Refusal | undefined {
  if (fields.utterances == null) return validationError('utterances', 'Field required');
  const wrong = wrongField(fields, FIELDS);
  if (wrong !== undefined) return validationError(wrong, 'Invalid or unknown');
  if (fields.instant_mode === true) return ERRORS.invalid;
  const [utterance] = fields.utterances as readonly Json[];
  const voice = utterance?.voice as Json | undefined;
  if (voice === undefined) return fields.version === '2' ? ERRORS.needsVoice : undefined;
  const known = voice.provider === 'HUME_AI' ? library : own;
  return known.has(String(voice.id ?? voice.name)) ? undefined : ERRORS.noVoice;
}

function isUtterance(value: unknown): boolean {
  return isObject(value) && value.text != null && wrongField(value, UTTERANCE) === undefined;
}

function isVoice(value: unknown): boolean {
  if (!isObject(value) || (value.id == null) === (value.name == null)) return false;
  const checks = { id: isText, name: isText, provider: isOneOf('HUME_AI', 'CUSTOM_VOICE') };
  return wrongField(value, checks) === undefined;
}

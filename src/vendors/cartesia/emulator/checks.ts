import { isObject } from '../../emulator/json.ts';
import { type Check, isFlag, isOneOf, isText, isWithin, wrongField } from '../../openai/emulator/checks.ts';
import { codedError, ERRORS, type Refusal } from './errors.ts';

type Json = Readonly<Record<string, unknown>>;
type Checks = Readonly<Record<string, Check>>;

const RATES = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];
const BITRATES = [32_000, 64_000, 96_000, 128_000, 192_000];
const isAmong =
  (numbers: readonly number[]): Check =>
  (value) =>
    typeof value === 'number' && numbers.includes(value);
const isLanguage: Check = (value) => /^(en|de|fr|es|pt|zh|ja|hi|it|ko)(-[A-Z]{2})?$/.test(String(value));

/** Every field of the vendor's library for speech. */
export const SPEECH: Checks = {
  model_id: isText,
  output_format: isFormat,
  transcript: isText,
  voice: (value) => isText(value) || (isObject(value) && isText(value.id)),
  generation_config: isConfig,
  language: isLanguage,
  locale: isLanguage,
  normalization: isText,
  pronunciation_dict_id: isText,
  save: isFlag,
  speed: isOneOf('slow', 'normal', 'fast'),
};

/** Of a form, which holds words for everything. */
const RECORDING: Checks = {
  model: isText,
  language: (value) => /^(en|de|fr|es|ja|jw|haw)$/.test(String(value)),
  'timestamp_granularities[]': isOneOf('word'),
};

const MODELS = /^(sonic-3(\.5)?|sonic-2|sonic-turbo|sonic-latest)(-\d{4}-\d{2}-\d{2})?$/;
const LISTENERS = /^ink-whisper(-2025-06-04)?$/;

export function refusalOfSpeech(fields: Json, voices: ReadonlySet<string>): Refusal | undefined {
  for (const name of ['model_id', 'transcript', 'voice', 'output_format'])
    if (fields[name] == null || fields[name] === '') return invalidField(name);
  const wrong = wrongField(fields, SPEECH);
  if (wrong !== undefined) return invalidField(wrong);
  if (fields.language != null && fields.locale != null) return invalidField('locale');
  if (!MODELS.test(String(fields.model_id))) return ERRORS.noModel;
  const { voice } = fields;
  return voices.has(String(isObject(voice) ? voice.id : voice)) ? undefined : ERRORS.noVoice;
}

export function refusalOfRecording(fields: Json): Refusal | undefined {
  const wrong = wrongField(fields, RECORDING);
  if (wrong !== undefined) return invalidField(wrong);
  return LISTENERS.test(String(fields.model)) ? undefined : ERRORS.noModel;
}

function invalidField(name: string): Refusal {
  return codedError(400, null, 'Invalid request', `"${name}" is missing, unknown or invalid.`);
}

function isConfig(value: unknown): boolean {
  const checks = { emotion: isText, speed: isWithin(0.6, 1.5), volume: isWithin(0.5, 2) };
  return isObject(value) && wrongField(value, checks) === undefined;
}

function isFormat(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isMp3 = value.container === 'mp3';
  const container = isMp3 ? isOneOf('mp3') : isOneOf('wav', 'raw');
  const coding = isMp3
    ? { bit_rate: isAmong(BITRATES) }
    : { encoding: isOneOf('pcm_s16le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw') };
  const checks = { container, sample_rate: isAmong(RATES), ...coding };
  return Object.keys(checks).every((name) => value[name] != null) && wrongField(value, checks) === undefined;
}

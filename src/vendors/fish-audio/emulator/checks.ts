import { countCharacters } from '../../../text/index.ts';
import { isObject } from '../../emulator/json.ts';
import { type Check, isFlag, isOneOf, isText, isWhole, isWithin, wrongField } from '../../openai/emulator/checks.ts';
import { ERRORS, type Refusal, validationError } from './errors.ts';

type Json = Readonly<Record<string, unknown>>;
type Checks = Readonly<Record<string, Check>>;

const isWholeWithin =
  (low: number, high: number): Check =>
  (value) =>
    isWhole(value) && isWithin(low, high)(value);
const isAmong =
  (...numbers: number[]): Check =>
  (value) =>
    typeof value === 'number' && numbers.includes(value);

/** Every field of the vendor's description of speech. */
export const SPEECH: Checks = {
  text: isText,
  reference_id: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  references: (value) => Array.isArray(value) && value.every(isReference),
  temperature: isWithin(0, 1),
  top_p: isWithin(0, 1),
  prosody: isProsody,
  chunk_length: isWholeWithin(100, 300),
  min_chunk_length: isWholeWithin(0, 100),
  normalize: isFlag,
  format: isOneOf('wav', 'pcm', 'mp3', 'opus'),
  sample_rate: isAmong(8000, 16_000, 24_000, 32_000, 44_100, 48_000),
  mp3_bitrate: isAmong(64, 128, 192),
  opus_bitrate: isAmong(-1000, 24_000, 32_000, 48_000, 64_000),
  latency: isOneOf('low', 'normal', 'balanced'),
  max_new_tokens: isWhole,
  repetition_penalty: isWithin(0, 10),
  condition_on_previous_chunks: isFlag,
  early_stop_threshold: isWithin(0, 1),
  features: Array.isArray,
};

const DESIGN: Checks = {
  instruction: (value) => isText(value) && isWithin(1, 2000)(countCharacters(String(value))),
  reference_text: (value) => isText(value) && countCharacters(String(value)) <= 150,
  language: isText,
  n: isWholeWithin(1, 4),
  speed: (value) => isWithin(0, 3)(value) && value !== 0,
  num_step: isWholeWithin(1, 128),
  guidance_scale: isWithin(0, 1000),
  instruct_guidance_scale: isWithin(0, 1000),
  seed: isWhole,
};

const isCount: Check = (value) => /^[1-9]\d*$/.test(String(value));
const isWrittenFlag: Check = (value) => /^(true|false)$/i.test(String(value));

/** Of a form, which holds words for everything. */
const RECORDING: Checks = {
  language: (value) => /^[a-z]{2}$/.test(String(value)),
  ignore_timestamps: isText,
};
const PRO_RECORDING: Checks = {
  ...RECORDING,
  tag_audio_events: isWrittenFlag,
  diarize: (value) => value === 'auto' || isWrittenFlag(value),
  num_speakers: isCount,
  min_speakers: isCount,
  max_speakers: isCount,
};

const RATES: Readonly<Record<string, readonly number[]>> = { mp3: [32_000, 44_100], opus: [48_000] };

export function refusalOfSpeech(fields: Json, isJson: boolean, voices: ReadonlySet<string>): Refusal | undefined {
  if (fields.text == null || fields.text === '') return validationError('text', 'Field required');
  const wrong = wrongField(fields, SPEECH);
  if (wrong !== undefined) return validationError(wrong, 'Invalid or unknown');
  if (isJson && fields.references != null) return validationError('references', 'Bytes are for MessagePack');
  const { format = 'mp3', sample_rate: rate, reference_id: id } = fields;
  for (const name of ['mp3', 'opus'])
    if (name !== format && fields[`${name}_bitrate`] != null)
      return validationError(`${name}_bitrate`, 'Not of this format');
  const rates = RATES[String(format)];
  if (typeof rate === 'number' && (rates === undefined ? rate === 48_000 : !rates.includes(rate)))
    return ERRORS.invalid;
  const unknown = [id ?? []].flat().some((voice) => typeof voice !== 'string' || !voices.has(voice));
  return unknown ? ERRORS.noVoice : undefined;
}

export function refusalOfDesign(fields: Json, model: unknown): Refusal | undefined {
  if (model !== 'voice-design-1') return validationError('model', 'Field required');
  if (fields.instruction == null) return validationError('instruction', 'Field required');
  const wrong = wrongField(fields, DESIGN);
  return wrong === undefined ? undefined : validationError(wrong, 'Invalid or unknown');
}

export function refusalOfRecording(fields: Json, isPro: boolean): Refusal | undefined {
  if (wrongField(fields, isPro ? PRO_RECORDING : RECORDING) !== undefined)
    return isPro ? ERRORS.badParameter : ERRORS.invalid;
  const hasBounds = 'min_speakers' in fields || 'max_speakers' in fields;
  const counts = hasBounds || 'num_speakers' in fields;
  const isOdd = ('num_speakers' in fields && hasBounds) || (counts && fields.diarize === 'false');
  return isOdd ? ERRORS.badParameter : undefined;
}

function isReference(value: unknown): boolean {
  return isObject(value) && Buffer.isBuffer(value.audio) && value.audio.length > 0 && isText(value.text);
}

function isProsody(value: unknown): boolean {
  const checks = { speed: isWithin(0.5, 2), volume: isWithin(-20, 20), normalize_loudness: isFlag };
  return isObject(value) && wrongField(value, checks) === undefined;
}

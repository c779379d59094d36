import { countCharacters } from '../../../text/index.ts';
import { ERRORS, legacyError, type Refusal } from './errors.ts';

type Check = (value: string) => boolean;
type Options = Readonly<Record<string, readonly string[]>>;

const isText: Check = (value) => value !== '';
const isFlag: Check = (value) => value === 'true' || value === 'false';
const isOneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value);
const isWithin =
  (low: number, high: number): Check =>
  (value) =>
    /^\d+(\.\d+)?$/.test(value) && Number(value) >= low && Number(value) <= high;

/** Every parameter of the vendor's library for recordings. */
export const LISTEN: Readonly<Record<string, Check>> = {
  callback: isText,
  callback_method: isOneOf('POST', 'PUT'),
  extra: isText,
  sentiment: isFlag,
  summarize: isOneOf('v2', 'true', 'false'),
  tag: isText,
  topics: isFlag,
  custom_topic: isText,
  custom_topic_mode: isOneOf('extended', 'strict'),
  intents: isFlag,
  custom_intent: isText,
  custom_intent_mode: isOneOf('extended', 'strict'),
  detect_entities: isFlag,
  detect_language: (value) => isFlag(value) || /^[a-z]{2}(-[A-Z]{2})?$/.test(value),
  diarize: isFlag,
  diarize_model: isOneOf('latest', 'v1', 'v2'),
  dictation: isFlag,
  encoding: isOneOf('linear16', 'flac', 'mulaw', 'amr-nb', 'amr-wb', 'opus', 'speex', 'g729'),
  filler_words: isFlag,
  keyterm: isText,
  keywords: isText,
  language: isText,
  measurements: isFlag,
  model: isText,
  multichannel: isFlag,
  numerals: isFlag,
  paragraphs: isFlag,
  profanity_filter: isFlag,
  punctuate: isFlag,
  redact: isText,
  replace: isText,
  search: isText,
  smart_format: isFlag,
  utterances: isFlag,
  utt_split: isWithin(0.1, 10),
  version: isText,
  mip_opt_out: isFlag,
};

/** The same for speech. */
export const SPEAK: Readonly<Record<string, Check>> = {
  callback: isText,
  callback_method: isOneOf('POST', 'PUT'),
  mip_opt_out: isFlag,
  tag: isText,
  bit_rate: isWithin(4000, 650_000),
  container: isOneOf('none', 'wav', 'ogg'),
  encoding: isOneOf('linear16', 'flac', 'mulaw', 'alaw', 'mp3', 'opus', 'aac'),
  model: isText,
  sample_rate: isWithin(8000, 48_000),
  speed: isWithin(0.7, 1.5),
};

const REPEATED = [
  'detect_language',
  'extra',
  'tag',
  'custom_topic',
  'custom_intent',
  'keyterm',
  'keywords',
  'replace',
  'search',
  'redact',
];
const ENGLISH = /-(medical|meeting|finance|conversationalai|voicemail|video|drivethru|automotive|phonecall)$/;
const LISTENERS =
  /^(nova-3(-general|-medical)?|nova-2(-\w+)?|nova(-general|-phonecall|-medical)?|enhanced(-\w+)?|base(-\w+)?)$/;
const LANGUAGES = /^(en|de|fr|es|it|nl|ja|pt|multi)(-[A-Z]{2})?$/;

export function refusalOfListening(options: Options): Refusal | undefined {
  const wrong = wrongIn(options, LISTEN);
  if (wrong !== undefined) return wrong;
  const [model = 'base'] = options.model ?? [];
  const [language = 'en'] = options.language ?? [];
  const isNewest = model.startsWith('nova-3');
  if (!LISTENERS.test(model) || !LANGUAGES.test(language)) return ERRORS.noModel;
  const known = model === 'nova-3-medical' ? /^(en(-|$)|multi$)/ : /^en(-|$)/;
  if (ENGLISH.test(model) && !known.test(language)) return ERRORS.noModel;
  if (ENGLISH.test(model) && options.detect_language?.[0] === 'true') return ERRORS.noModel;
  if (options.keyterm !== undefined && !isNewest)
    return legacyError(400, 'Bad Request', 'Keyterms are for Nova-3 only.');
  return options.keywords !== undefined && isNewest ? legacyError(400, 'Bad Request', 'Use keyterm.') : undefined;
}

const RATES: Readonly<Record<string, readonly string[]>> = {
  linear16: ['8000', '16000', '24000', '32000', '48000'],
  flac: ['8000', '16000', '22050', '32000', '48000'],
  mulaw: ['8000', '16000'],
  alaw: ['8000', '16000'],
};
const CONTAINERS: Readonly<Record<string, readonly string[]>> = {
  linear16: ['none', 'wav'],
  mulaw: ['none', 'wav'],
  alaw: ['none', 'wav'],
  opus: ['ogg'],
};
const BITRATES: Readonly<Record<string, Check>> = {
  mp3: isOneOf('32000', '48000'),
  opus: isWithin(4000, 650_000),
  aac: isWithin(4000, 192_000),
};

export function refusalOfSpeaking(options: Options, text: unknown, voices: ReadonlySet<string>): Refusal | undefined {
  const wrong = wrongIn(options, SPEAK);
  if (wrong !== undefined) return wrong;
  if (typeof text !== 'string') return ERRORS.badJson;
  if (text.trim() === '') return legacyError(400, 'Bad Request', 'Input text was empty.');
  if (countCharacters(text) > 2000) return ERRORS.tooLarge;
  const [model = 'aura-asteria-en'] = options.model ?? [];
  if (!voices.has(model)) return ERRORS.noVoice;
  if (options.speed !== undefined && !model.startsWith('aura-2-')) return legacyError(400, 'Bad Request', 'No speed.');
  const [encoding = 'mp3'] = options.encoding ?? [];
  const isFit =
    isAmong(options.sample_rate, RATES[encoding] ?? []) &&
    isAmong(options.container, CONTAINERS[encoding] ?? []) &&
    (options.bit_rate ?? []).every((rate) => BITRATES[encoding]?.(rate) === true);
  return isFit ? undefined : legacyError(400, 'UNSUPPORTED_AUDIO_FORMAT', 'Unsupported audio format.');
}

function isAmong(values: readonly string[] = [], known: readonly string[]): boolean {
  return values.every((value) => known.includes(value));
}

function wrongIn(options: Options, checks: Readonly<Record<string, Check>>): Refusal | undefined {
  const isWrong = Object.entries(options).some(([name, values]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const isRepeated = values.length > 1 && !REPEATED.includes(name);
    return check === undefined || isRepeated || !values.every(check);
  });
  return isWrong ? ERRORS.badOption : undefined;
}

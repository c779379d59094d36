import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../emulator/json.ts';

type Json = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

export interface IncomingCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** The vendor tells its refusals in one line of text. */
export interface Refusal {
  readonly status: number;
  readonly error: string;
}

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isShare: Check = (value) => typeof value === 'number' && value >= 0 && value <= 1;
const isList: Check = (value) => Array.isArray(value);
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isOneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(String(value));

const LANGUAGES = `en en_au en_uk en_us es fr de de_ch it pt nl af sq am ar hy as az ba eu be bn bs br bg my ca zh hr cs
da et fo fi gl ka el gu ht ha haw he hi hu is id ja jw kn kk km ko lo la lv ln lt lb mk mg ms ml mt mi mr mn ne no nn oc
pa ps fa pl ro ru sa sr sn sd si sk sl so su sw sv tl tg ta tt te th bo tr tk uk ur uz vi cy yi yo`.split(/\s+/);
const MODELS = ['universal-3-pro', 'universal-3-5-pro', 'universal-2', 'slam-1'];

/** Every field of a task, by the vendor's description of it. */
const FIELDS: Readonly<Record<string, Check>> = {
  audio_url: isText,
  audio_end_at: isCount,
  audio_start_from: isCount,
  auto_chapters: isFlag,
  auto_highlights: isFlag,
  boost_param: isOneOf('low', 'default', 'high'),
  content_safety: isFlag,
  content_safety_confidence: isCount,
  custom_spelling: isList,
  custom_topics: isFlag,
  disfluencies: isFlag,
  domain: isText,
  dual_channel: isFlag,
  entity_detection: isFlag,
  filter_profanity: isFlag,
  format_text: isFlag,
  iab_categories: isFlag,
  keyterms_prompt: isTexts,
  keyterms_prompt_options: isObject,
  language_code: isOneOf(...LANGUAGES),
  language_confidence_threshold: isShare,
  language_detection: isFlag,
  language_detection_options: isObject,
  multichannel: isFlag,
  prompt: isText,
  punctuate: isFlag,
  redact_pii: isFlag,
  redact_pii_audio: isFlag,
  redact_pii_audio_quality: isOneOf('mp3', 'wav'),
  redact_pii_policies: isTexts,
  redact_pii_return_unredacted: isFlag,
  redact_pii_sub: isOneOf('entity_name', 'hash'),
  remove_audio_tags: isText,
  sentiment_analysis: isFlag,
  speaker_labels: isFlag,
  speakers_expected: isCount,
  speaker_options: isObject,
  speech_models: (value) => Array.isArray(value) && value.length > 0 && value.every(isOneOf(...MODELS)),
  speech_threshold: isShare,
  speech_understanding: isObject,
  summarization: isFlag,
  summary_model: isOneOf('informative', 'conversational', 'catchy'),
  summary_type: isOneOf('bullets', 'bullets_verbose', 'gist', 'headline', 'paragraph'),
  temperature: isShare,
  topics: isTexts,
  webhook_auth_header_name: isText,
  webhook_auth_header_value: isText,
  webhook_url: isText,
  word_boost: isTexts,
};

/** Undefined if the key is the right one, without a word for its kind. */
export function refusalOfKey({ headers }: IncomingCall, apiKey: string): Refusal | undefined {
  if (headers.authorization === apiKey) return undefined;
  return { status: 401, error: 'Authentication error, API token missing/invalid' };
}

/** Undefined if there is a whole recording. */
export function refusalOfUpload({ headers, bytes }: IncomingCall): Refusal | undefined {
  if (headers['content-type'] !== 'application/octet-stream') {
    return { status: 422, error: 'Content-Type must be application/octet-stream' };
  }
  const isWhole = headers['content-length'] === undefined || Number(headers['content-length']) === bytes.length;
  if (bytes.length > 0 && isWhole) return undefined;
  return { status: 422, error: 'Upload failed, please try again. If you continue to have issues please reach out' };
}

/** `uploads` are the addresses at which the vendor has recordings of its own. */
export function refusalOfTask(body: Json | undefined, uploads: ReadonlySet<string>): Refusal | undefined {
  if (body === undefined) return wrong('Invalid JSON in body');
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(FIELDS, name));
  if (unknown !== undefined) return wrong(`Invalid endpoint schema: unknown field "${unknown}"`);
  const odd = Object.entries(body).find(([name, value]) => value !== null && FIELDS[name]?.(value) === false);
  if (odd !== undefined) return wrong(`Invalid endpoint schema: "${odd[0]}" is not valid`);
  const url = body.audio_url;
  if (typeof url !== 'string') return wrong('Invalid endpoint schema: "audio_url" is required');
  if (!/^https:\/\//.test(url) && !uploads.has(url)) return wrong('Invalid endpoint schema: "audio_url" is no URL');
  return refusalTogether(body);
}

function refusalTogether(body: Json): Refusal | undefined {
  const { speech_models: models, language_code: code, language_detection: detects, prompt } = body;
  if (!Array.isArray(models)) return wrong('"speech_models" must be a non-empty list');
  if (code != null && detects === true) return wrong('language_detection cannot be used with language_code');
  const isOld = !models.some((model) => /^(universal-3|slam-1)/.test(String(model)));
  if (prompt != null && isOld) return wrong('"prompt" is not available for this speech model');
  if (prompt != null && body.keyterms_prompt != null) return wrong('"prompt" cannot be used with "keyterms_prompt"');
  return undefined;
}

function wrong(error: string): Refusal {
  return { status: 400, error };
}

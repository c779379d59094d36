import { countCharacters } from '../../../text/index.ts';
import { isObject, jsonIn } from '../../emulator/json.ts';
import type { Recorded } from '../../emulator/recording-server.ts';
import { type Check, isFlag, isOneOf, isText, isWhole, isWithin } from '../../openai/emulator/checks.ts';
import { ERRORS, type Refusal, today, unread } from './errors.ts';
import { MUSIC_FIELDS, refusalOfSong } from './music-checks.ts';
import { OUTPUT_FORMATS } from './sounds.ts';

type Json = Record<string, unknown>;
type Route = 'speech' | 'speech stream' | 'effect' | 'music' | 'design' | 'transcription';

/** A request as the vendor read it. Values of a form have the types of their fields. */
export interface Submission {
  readonly route: Route;
  readonly voice: string;
  readonly query: Readonly<Record<string, string>>;
  readonly fields: Json;
  readonly file?: { readonly name: string; readonly type: string; readonly bytes: Buffer };
}

/** Whom the vendor knows. */
export interface Terms {
  readonly apiKey: string;
  /** Undefined: it has every voice. */
  readonly voices: readonly string[] | undefined;
}

const PATHS: readonly (readonly [RegExp, Route])[] = [
  [/^\/v1\/text-to-speech\/([^/]+)$/, 'speech'],
  [/^\/v1\/text-to-speech\/([^/]+)\/stream$/, 'speech stream'],
  [/^\/v1\/sound-generation$/, 'effect'],
  [/^\/v1\/music$/, 'music'],
  [/^\/v1\/text-to-voice\/design$/, 'design'],
  [/^\/v1\/speech-to-text$/, 'transcription'],
];

const isWholeWithin =
  (low: number, high: number): Check =>
  (value) =>
    isWhole(value) && isWithin(low, high)(value);
const isTexts = (most: number): Check => {
  return (value) => Array.isArray(value) && value.length <= most && value.every(isText);
};

const SPEECH: Readonly<Record<string, Check>> = {
  text: isText,
  model_id: isText,
  language_code: isText,
  voice_settings: isSettings,
  pronunciation_dictionary_locators: (value) => Array.isArray(value) && value.length <= 3 && value.every(isObject),
  seed: isWholeWithin(0, 4_294_967_295),
  previous_text: isText,
  next_text: isText,
  previous_request_ids: isTexts(3),
  next_request_ids: isTexts(3),
  use_pvc_as_ivc: isFlag,
  apply_text_normalization: isOneOf('auto', 'on', 'off'),
  apply_language_text_normalization: isFlag,
  audio_effects: isObject,
};

const FIELDS: Readonly<Record<Route, Readonly<Record<string, Check>>>> = {
  speech: SPEECH,
  'speech stream': SPEECH,
  effect: {
    text: isText,
    loop: isFlag,
    duration_seconds: isWithin(0.5, 30),
    prompt_influence: isWithin(0, 1),
    model_id: isOneOf('eleven_text_to_sound_v2'),
  },
  music: MUSIC_FIELDS,
  design: {
    voice_description: isText,
    model_id: isOneOf('eleven_multilingual_ttv_v2', 'eleven_ttv_v3'),
    text: (value) => isText(value) && isWithin(100, 1000)(String(value).length),
    auto_generate_text: isFlag,
    loudness: isWithin(-1, 1),
    seed: isWhole,
    guidance_scale: isWithin(0, 100),
    stream_previews: isFlag,
    should_enhance: isFlag,
    remixing_session_id: isText,
    remixing_session_iteration_id: isText,
    quality: isWithin(-1, 1),
    reference_audio_base64: isText,
    prompt_strength: isWithin(0, 1),
  },
  transcription: {
    model_id: isOneOf('scribe_v1', 'scribe_v2'),
    language_code: (value) => /^[a-z]{2,3}$/.test(String(value)),
    transcript_edit: isText,
    tag_audio_events: isFlag,
    num_speakers: isWholeWithin(1, 32),
    timestamps_granularity: isOneOf('none', 'word', 'character'),
    diarize: isFlag,
    diarization_threshold: isWithin(0, 1),
    additional_formats: (value) => Array.isArray(JSON.parse(String(value))),
    file_format: isOneOf('pcm_s16le_16', 'other'),
    temperature: isWithin(0, 2),
    seed: isWholeWithin(0, 2_147_483_647),
    webhook: isFlag,
    webhook_id: isText,
    no_verbatim: isFlag,
    use_speaker_library: isFlag,
    detect_speaker_roles: isFlag,
    entity_detection: isTexts(100),
    entity_redaction: isTexts(100),
    entity_redaction_mode: isText,
    keyterms: (value) => isTexts(1000)(value) && (value as string[]).every((term) => term.length < 50),
  },
};

const REQUIRED: Readonly<Record<Route, readonly string[]>> = {
  speech: ['text'],
  'speech stream': ['text'],
  effect: ['text'],
  music: [],
  design: ['voice_description'],
  transcription: ['model_id'],
};

const isLatency = isOneOf('0', '1', '2', '3', '4');
const isWrittenFlag = isOneOf('true', 'false');
const spoken = (formats: ReadonlySet<string>): Readonly<Record<string, Check>> => ({
  output_format: (value) => formats.has(String(value)),
  optimize_streaming_latency: isLatency,
  enable_logging: isWrittenFlag,
});
const made: Readonly<Record<string, Check>> = { output_format: (value) => OUTPUT_FORMATS.rest.has(String(value)) };

const QUERIES: Readonly<Record<Route, Readonly<Record<string, Check>>>> = {
  speech: spoken(OUTPUT_FORMATS.whole),
  'speech stream': spoken(OUTPUT_FORMATS.rest),
  effect: made,
  music: { output_format: (value) => OUTPUT_FORMATS.music.has(String(value)) },
  design: made,
  transcription: { enable_logging: isWrittenFlag },
};

/** The speech models, with how many characters each takes. */
const SPEECH_MODELS: ReadonlyMap<string, number> = new Map([
  ['eleven_flash_v2_5', 40_000],
  ['eleven_turbo_v2_5', 40_000],
  ['eleven_flash_v2', 30_000],
  ['eleven_turbo_v2', 30_000],
  ['eleven_multilingual_v2', 10_000],
  ['eleven_multilingual_v1', 10_000],
  ['eleven_monolingual_v1', 10_000],
  ['eleven_v3', 5_000],
]);

/** The vendor's reading of a request, or its refusal. */
export async function readSubmission(call: Recorded, terms: Terms): Promise<Submission | Refusal> {
  const { pathname, searchParams } = new URL(call.path, 'http://vendor');
  const [, route] = PATHS.find(([path]) => path.test(pathname)) ?? [];
  if (route === undefined || call.method !== 'POST') return today(404, 'not_found', 'not_found');
  const unknown = keyRefusal(call, terms);
  if (unknown !== undefined) return unknown;
  const voice = decodeURIComponent(/^\/v1\/text-to-speech\/([^/]+)/.exec(pathname)?.[1] ?? '');
  const read = route === 'transcription' ? await readForm(call) : readJson(call);
  if (read === undefined) return unread('', 'JSON decode error', 'json_invalid');
  const submission = { route, voice, query: Object.fromEntries(searchParams), ...read };
  return refusalOf(submission, terms) ?? submission;
}

export function keyRefusal({ headers }: Recorded, { apiKey }: Terms): Refusal | undefined {
  const key = headers['xi-api-key'];
  if (key === undefined) return ERRORS.noKey;
  return key === apiKey ? undefined : ERRORS.badKey;
}

function readJson(recorded: Recorded): Pick<Submission, 'fields'> | undefined {
  const fields = jsonIn(recorded);
  return fields && { fields };
}

async function readForm({ headers, bytes }: Recorded): Promise<Pick<Submission, 'fields' | 'file'> | undefined> {
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
  const file = form?.get('file');
  if (form === undefined || !(file instanceof File)) return undefined;
  const names = [...new Set(form.keys())].filter((name) => name !== 'file');
  const fields = Object.fromEntries(names.map((name) => [name, parseField(name, form.getAll(name).map(String))]));
  return { fields, file: { name: file.name, type: file.type, bytes: Buffer.from(await file.arrayBuffer()) } };
}

const REPEATED = ['keyterms', 'entity_detection', 'entity_redaction'];

/** A form holds words for everything. */
function parseField(name: string, values: readonly string[]): unknown {
  if (REPEATED.includes(name)) return values;
  const [value = '', second] = values;
  if (second !== undefined) return values;
  const isKnown = Object.hasOwn(FIELDS.transcription, name) && FIELDS.transcription[name]?.(value) === true;
  return !isKnown && /^(true|false|-?\d+(\.\d+)?)$/.test(value) ? JSON.parse(value) : value;
}

function refusalOf(submission: Submission, { voices }: Terms): Refusal | undefined {
  const { route, voice, query, fields } = submission;
  const missing = REQUIRED[route].find((name) => fields[name] == null);
  if (missing !== undefined) return unread(missing, 'Field required', 'missing');
  const wrong = unknownIn(query, QUERIES[route]) ?? unknownIn(fields, FIELDS[route]);
  if (wrong === 'output_format') return ERRORS.badFormat;
  if (wrong === 'voice_settings') return ERRORS.badSettings;
  if (wrong !== undefined) return unread(wrong, `Invalid or unknown: ${wrong}`);
  if (route === 'effect' && fields.text === '') return ERRORS.emptyText;
  if (route === 'design') return refusalOfDesign(fields);
  if (route === 'music') return refusalOfSong(fields);
  if (route !== 'speech' && route !== 'speech stream') return undefined;
  if (voices !== undefined && !voices.includes(voice)) return ERRORS.noVoice;
  return refusalOfSpeech(fields);
}

function refusalOfSpeech({
  text,
  model_id: model = 'eleven_multilingual_v2',
  language_code: language,
}: Json): Refusal | undefined {
  const charsMax = SPEECH_MODELS.get(String(model));
  if (charsMax === undefined) return ERRORS.noModel;
  if (text === '') return ERRORS.emptyText;
  if (language != null && String(model).startsWith('eleven_multilingual')) return ERRORS.invalid;
  return countCharacters(String(text)) > charsMax ? ERRORS.textTooLong : undefined;
}

function refusalOfDesign({ text, auto_generate_text: isAutomatic }: Json): Refusal | undefined {
  return text == null && isAutomatic !== true ? ERRORS.invalid : undefined;
}

function unknownIn(values: Readonly<Json>, checks: Readonly<Record<string, Check>>): string | undefined {
  return Object.entries(values).find(([name, value]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    return check === undefined || (value !== null && !check(value));
  })?.[0];
}

function isSettings(value: unknown): boolean {
  const checks = {
    stability: isWithin(0, 1),
    similarity_boost: isWithin(0, 1),
    style: isWithin(0, 1),
    use_speaker_boost: isFlag,
    speed: isWithin(0.7, 1.2),
  };
  return isObject(value) && unknownIn(value, checks) === undefined;
}

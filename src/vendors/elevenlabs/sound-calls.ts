import type { JsonValue } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { withQuery } from '../kit/forms.ts';
import { defined, isObject } from '../kit/json.ts';
import { firstMatch, refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseLength, refuseOutside } from '../kit/refusals.ts';
import type { WireValue } from '../kit/wire.ts';
import type { Media } from '../vendor.ts';
import { type Codec, formatFor, musicFormat, type SoundFormat } from './formats.ts';
import { planOf } from './music-plan.ts';

type Request = SoundRequest<Media>;

/** What is sent for a sound. */
export interface SoundCall {
  /** With its query. */
  readonly path: string;
  readonly json: WireValue;
  readonly format: SoundFormat;
}

const DESIGN_MODELS = /_ttv_|^text-to-voice/;
const EFFECT_MODELS = /^(eleven_text_to_sound|sound-generation)/;
/** Named after the route: the vendor's own choice of a model. */
const UNNAMED_MODELS = /^(text-to-voice|sound-generation)/;
const SONG_SECONDS = { min: 3, max: 600 };

/** The call that a model takes. Throws ApiError for what it cannot take. */
export function soundCall(request: Request, model: string): SoundCall {
  if (DESIGN_MODELS.test(model)) return designCall(request, model);
  return EFFECT_MODELS.test(model) ? effectCall(request, model, ['mp3', 'pcm', 'opus']) : speechCall(request, model);
}

/** The same for what is made as a job. */
export function musicCall(request: Request, model: string): SoundCall {
  // They would escape the price.
  refuseKeys(request.extra, ['composition_plan', 'music_length_ms']);
  return EFFECT_MODELS.test(model) ? effectCall(request, model, ['mp3', 'opus']) : songCall(request, model);
}

const SPOKEN_CHARS_MAX: readonly (readonly [RegExp, number])[] = [
  [/^eleven_(flash|turbo)_v2_5/, 40_000],
  [/^eleven_(flash|turbo)_v2/, 30_000],
  [/^eleven_(multilingual|monolingual)_/, 10_000],
  [/^eleven_v3/, 5_000],
];
const SEED_MAX = 4_294_967_295;

function speechCall(request: Request, model: string): SoundCall {
  refuseAllBut(request, ['input', 'voice', 'referenceId', 'language', 'speed', 'seed']);
  const { input: text, language, seed } = request;
  if (text === undefined) throw unsupported('input', { atLeast: 1, unit: 'character' });
  refuseLength('input', text, 0, firstMatch(SPOKEN_CHARS_MAX, model) ?? Number.POSITIVE_INFINITY);
  refuseOutside('seed', seed, 0, SEED_MAX);
  if (language !== undefined && model.startsWith('eleven_multilingual_')) throw unsupported('language');
  const { enable_logging, optimize_streaming_latency, ...extra } = request.extra;
  const voice_settings = voiceSettings(request);
  // WAV says how long it is, so the route that streams does not make it.
  const format = formatFor(request, ['mp3', 'wav', 'pcm', 'opus']);
  const route = `/v1/text-to-speech/${voiceOf(request)}${format.codec === 'wav' ? '' : '/stream'}`;
  return {
    path: withQuery(route, { output_format: format.name, enable_logging, optimize_streaming_latency }),
    json: { ...extra, ...defined({ model_id: model, text, language_code: language, voice_settings, seed }) },
    format,
  };
}

/** A voice is an id here, wherever the caller wrote it, and one segment of a path. */
function voiceOf({ voice, referenceId = voice }: Request): string {
  if (referenceId === undefined) throw unsupported('voice', { atLeast: 1 });
  if (voice !== undefined && voice !== referenceId) throw unsupported('voice', { notWith: 'reference_id' });
  // A segment of dots would lead to another route.
  if (/^\.{0,2}$/.test(referenceId)) throw unsupported('voice', 'another value');
  return encodeURIComponent(referenceId.toWellFormed());
}

/** Settings of the caller's own stay as they were sent. */
function voiceSettings({ speed, extra }: Request): JsonValue | undefined {
  if (speed === undefined) return undefined;
  return isObject(extra.voice_settings) ? { ...extra.voice_settings, speed } : { speed };
}

/** A text without a prompt is the prompt. */
function describedBy({ prompt, input }: Request): string | undefined {
  if (prompt !== undefined && input !== undefined) throw unsupported('input', { notWith: 'prompt' });
  return prompt ?? input;
}

function effectCall(request: Request, model: string, codecs: readonly Codec[]): SoundCall {
  refuseAllBut(request, ['prompt', 'input', 'durationSeconds', 'promptInfluence', 'loop']);
  const { durationSeconds: duration_seconds, promptInfluence: prompt_influence, loop } = request;
  const text = describedBy(request);
  refuseOutside('duration_seconds', duration_seconds, 0.5, 30);
  refuseOutside('prompt_influence', prompt_influence, 0, 1);
  if (loop === true && model.endsWith('_v1')) throw unsupported('loop');
  const format = formatFor(request, codecs);
  if (text === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  return {
    path: withQuery('/v1/sound-generation', { output_format: format.name }),
    json: { ...request.extra, ...defined({ model_id: idOf(model), text, duration_seconds, prompt_influence, loop }) },
    format,
  };
}

function songCall(request: Request, model: string): SoundCall {
  refuseAllBut(request, ['prompt', 'input', 'lyrics', 'durationSeconds', 'instrumental', 'seed']);
  const format = musicFormat(request);
  const json = { ...request.extra, model_id: model, ...songFields(request, model) };
  return { path: withQuery('/v1/music', { output_format: format.name }), json, format };
}

/** Either a prompt, or lyrics in a plan whose styles the prompt is; some fields go with one of them only. */
function songFields(request: Request, model: string): Record<string, WireValue> {
  const { lyrics, seed, instrumental, durationSeconds } = request;
  const prompt = describedBy(request);
  refuseOutside('duration_seconds', durationSeconds, SONG_SECONDS.min, SONG_SECONDS.max);
  if (lyrics !== undefined) {
    if (instrumental === true) throw unsupported('instrumental', { notWith: 'lyrics' });
    return { composition_plan: planOf(lyrics, prompt ?? '', request, model), ...defined({ seed }) };
  }
  if (prompt === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  if (seed !== undefined) throw unsupported('seed', { notWith: request.prompt === undefined ? 'input' : 'prompt' });
  const music_length_ms = durationSeconds === undefined ? undefined : Math.round(durationSeconds * 1000);
  return defined({ prompt, music_length_ms, force_instrumental: instrumental });
}

const SAMPLE_TEXT_CHARS_MIN = 100;
const SAMPLE_TEXT_CHARS_MAX = 1_000;

/** Bare samples are not asked for: a preview could not say what they are. */
export function designCall(request: Request, model: string): SoundCall {
  refuseAllBut(request, ['voiceDescription', 'input', 'loudness', 'guidanceScale', 'seed', 'autoGenerateText']);
  // Previews without their sound.
  refuseKeys(request.extra, ['stream_previews']);
  const { voiceDescription: voice_description, input: text, autoGenerateText, loudness, seed } = request;
  if (voice_description === undefined) throw unsupported('voice_description', { atLeast: 1, unit: 'character' });
  if (text !== undefined) refuseLength('input', text, SAMPLE_TEXT_CHARS_MIN, SAMPLE_TEXT_CHARS_MAX);
  if (text === undefined && autoGenerateText === false)
    throw unsupported('input', { atLeast: 1, unit: 'character without "auto_generate_text"' });
  refuseOutside('loudness', loudness, -1, 1);
  const format = formatFor(request, ['mp3', 'opus']);
  // A voice needs something to say.
  const auto_generate_text = autoGenerateText ?? (text === undefined ? true : undefined);
  const guidance_scale = request.guidanceScale;
  const fields = { model_id: idOf(model), voice_description, text, auto_generate_text, loudness, guidance_scale, seed };
  return {
    path: withQuery('/v1/text-to-voice/design', { output_format: format.name }),
    json: { ...request.extra, ...defined(fields) },
    format,
  };
}

function idOf(model: string): string | undefined {
  return UNNAMED_MODELS.test(model) ? undefined : model;
}

function refuseAllBut(request: Request, supported: readonly (keyof Request)[]): void {
  // Format, rate and bitrate are for `formatFor` to judge.
  refuseFields(request, [...supported, 'format', 'sampleRate', 'bitrate'], SOUND_NAMES);
  // It is made of these three.
  refuseKeys(request.extra, ['output_format']);
}

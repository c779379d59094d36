import { z } from 'zod';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { CLIPS_PER_REQUEST_MAX, NAME_CHARS_MAX, SPOKEN_CHARS_MAX, VOICE_SAMPLE_BASE64_CHARS_MAX } from '../limits.ts';
import { inField, optional } from '../parse.ts';
import { countCharacters } from '../text/index.ts';
import { countField, flagField, modelField, oneOf, requireAny, secondsField, textField, wholeField } from './fields.ts';
import type { MediaSource, SoundRequest } from './media-requests.ts';
import { passthrough, unmodelled } from './passthrough.ts';
import { decodeBase64, listField, readUrl } from './references.ts';

const INVALID = 'invalid_reference_audio';
const amount = optional(z.number());
const rate = optional(z.int().min(1));
const seconds = optional(secondsField('invalid_duration'));
const format = optional(
  z.enum(['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac', 'ogg'], { error: 'invalid_response_format' }),
);

const fields = z.object({
  model: modelField,
  input: textField,
  text: textField.describe('The same as `input`.'),
  prompt: textField,
  lyrics: textField,
  voice_description: textField,
  voice: optional(z.union([z.string(), z.object({ id: z.string().min(1) })], { error: 'expected a name or {id}' })),
  reference_id: textField,
  language: textField,
  response_format: format,
  format: format.describe('The same as `response_format`.'),
  output: optional(z.enum(['binary', 'b64_json', 'url'], { error: 'invalid_output' })),
  n: countField(CLIPS_PER_REQUEST_MAX),
  duration_seconds: seconds,
  seconds: seconds.describe('The same as `duration_seconds`.'),
  duration: seconds.describe('The same as `duration_seconds`.'),
  speed: amount,
  volume: amount,
  loudness: amount,
  guidance_scale: amount,
  prompt_influence: amount,
  sample_rate: rate,
  bitrate: rate,
  mp3_bitrate: rate.describe('The same as `bitrate`.'),
  seed: wholeField,
  instrumental: flagField,
  loop: flagField,
  auto_generate_text: flagField,
  reference_audio: listField(z.string({ error: INVALID }), INVALID),
});
type ParsedBody = z.output<typeof fields>;

const WORDS = ['input', 'text', 'prompt', 'lyrics', 'voice_description'] as const;

/** Speech and music take the same body. */
export const soundSchema = z.preprocess(
  requireAny('missing_input', (body) => WORDS.some((name) => isGiven(body[name]))),
  fields,
);

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** `exact` is the same body with every number as it was written. */
export function toSoundRequest(parsed: ParsedBody, exact: JsonObject): SoundRequest<MediaSource> {
  const input = oneOf({ input: parsed.input, text: parsed.text });
  checkLength(`${input ?? ''}${parsed.lyrics ?? ''}`, input === undefined ? 'lyrics' : 'input');
  const { response_format, format, duration_seconds, seconds, duration, bitrate, mp3_bitrate } = parsed;
  return {
    kind: 'audio',
    model: parsed.model,
    input,
    prompt: parsed.prompt,
    lyrics: parsed.lyrics,
    voiceDescription: parsed.voice_description,
    language: parsed.language,
    format: oneOf({ response_format, format }),
    output: parsed.output ?? 'binary',
    speed: parsed.speed,
    volume: parsed.volume,
    loudness: parsed.loudness,
    guidanceScale: parsed.guidance_scale,
    promptInfluence: parsed.prompt_influence,
    sampleRate: parsed.sample_rate,
    bitrate: oneOf({ bitrate, mp3_bitrate }),
    durationSeconds: oneOf({ duration_seconds, seconds, duration }) || undefined,
    n: parsed.n ?? 1,
    seed: parsed.seed,
    instrumental: parsed.instrumental,
    loop: parsed.loop,
    autoGenerateText: parsed.auto_generate_text,
    ...voiceOf(parsed),
    extra: passthrough(unmodelled(exact, fields.shape)),
  };
}

function checkLength(spoken: string, param: string): void {
  // A character is one code unit or two, so most texts need not be counted.
  if (spoken.length <= SPOKEN_CHARS_MAX) return;
  if (spoken.length > 2 * SPOKEN_CHARS_MAX || countCharacters(spoken) > SPOKEN_CHARS_MAX) {
    throw new ApiError('text_too_long', { param });
  }
}

type Voice = Pick<SoundRequest<MediaSource>, 'voice' | 'referenceId' | 'referenceAudio'>;

/** A voice is named, or known by its id, or to be taken from a sample: each wherever clients write it. */
function voiceOf({ voice, reference_id, reference_audio = [] }: ParsedBody): Voice {
  const referenceAudio = reference_audio.map((given, place) =>
    inField(`reference_audio[${place}]`, () => parseAudioSource(given)),
  );
  if (typeof voice === 'object') {
    const referenceId = oneOf({ reference_id, 'voice.id': voice.id });
    return { voice: undefined, referenceId, referenceAudio };
  }
  const sample = voice === undefined ? undefined : inField('voice', () => sampleIn(voice));
  return sample === undefined
    ? { voice: voice || undefined, referenceId: reference_id, referenceAudio }
    : {
        voice: undefined,
        referenceId: reference_id,
        referenceAudio: [...referenceAudio, inVoice(sample)],
      };
}

function inVoice(sample: MediaSource): MediaSource {
  return sample.from === 'bytes' ? { ...sample, field: 'voice' } : sample;
}

const SAMPLE_TYPES = ['audio/mpeg', 'audio/wav'];

function parseAudioSource(given: string): MediaSource {
  const text = given.trim();
  const contentChars = text.length - text.indexOf(',') - 1;
  if (isDataUrl(text) && contentChars > VOICE_SAMPLE_BASE64_CHARS_MAX) throw new ApiError('voice_sample_too_large');
  const url = readUrl(text);
  if (url === undefined) throw new ApiError(INVALID);
  if ('url' in url) return { from: 'url', url: url.url };
  if (!SAMPLE_TYPES.includes(url.mimeType)) throw new ApiError('unsupported_audio_format');
  if (url.bytes.length === 0) throw new ApiError(INVALID);
  // Which of the two it is can be told here; whether it is either is for the call that reads all of it.
  if (isWave(url.bytes) !== (url.mimeType === 'audio/wav')) throw new ApiError('unsupported_audio_format');
  return { from: 'bytes', bytes: url.bytes };
}

function isDataUrl(text: string): boolean {
  return /^data:/i.test(text);
}

// The header of an empty WAV file in base64; no smaller text can be a sample.
const SAMPLE_CHARS_MIN = 60;

/** Undefined for a name. A data URL is a sample, and so is base64 that begins like one or is longer than any name. */
function sampleIn(voice: string): MediaSource | undefined {
  if (isDataUrl(voice)) return parseAudioSource(voice);
  if (voice.length > VOICE_SAMPLE_BASE64_CHARS_MAX) throw new ApiError('voice_sample_too_large');
  const bytes = voice.length < SAMPLE_CHARS_MIN ? undefined : decodeBase64(voice);
  const isSample = bytes !== undefined && (voice.length > NAME_CHARS_MAX || beginsLikeSample(bytes));
  return isSample ? { from: 'bytes', bytes } : undefined;
}

/** MP3, with a tag or without, or WAV. */
function beginsLikeSample(bytes: Buffer): boolean {
  return isWave(bytes) || /^(494433|ff[ef])/.test(bytes.toString('hex', 0, 3));
}

function isWave(bytes: Buffer): boolean {
  return /^(?:RIFF|RF64|BW64).{4}WAVE/s.test(bytes.toString('latin1', 0, 12));
}

import type { JsonValue } from '../../../json.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { countCharacters } from '../../../text/index.ts';
import { soundName } from '../../kit/public-names.ts';
import { refuse, refuseKeys, refuseOutside } from '../../kit/refusals.ts';
import type { Media, Speech } from '../../vendor.ts';
import { cutText } from './cut-text.ts';

type Request = SoundRequest<Media>;
type Fields = Readonly<Record<string, JsonValue | undefined>>;

const TEXT_CHARS_MAX = 4096;
const SAMPLE_RATE = 24_000;
/** The author has no default. */
const VOICE = 'alloy';

/** What else can be asked of a sound. The format's author knows none of it; servers that imitate it may. */
const OTHERS = [
  'voiceDescription',
  'language',
  'volume',
  'loudness',
  'guidanceScale',
  'promptInfluence',
  'sampleRate',
  'bitrate',
  'durationSeconds',
  'seed',
  'instrumental',
  'loop',
  'autoGenerateText',
] as const satisfies readonly (keyof Request)[];

export interface SpeechFamily {
  readonly isAuthors: boolean;
  readonly takesInstructions: boolean;
}

/** Whose model it is, by its name behind any path, as for pictures. */
export function speechFamily(upstreamModel: string): SpeechFamily {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1);
  return { isAuthors: /^(tts-1|gpt-.*-tts)/.test(name), takesInstructions: !name.startsWith('tts-1') };
}

/** The words, and never the prompt: that says how they are said, and is not counted in the price. */
function textOf({ input, lyrics }: Request): string {
  return input || lyrics || '';
}

function isLong(text: string): boolean {
  return text.length > TEXT_CHARS_MAX && countCharacters(text) > TEXT_CHARS_MAX;
}

/** One for each call. */
export function textsOf(request: Request): string[] {
  const text = textOf(request);
  return isLong(text) ? cutText(text, TEXT_CHARS_MAX) : [text];
}

/** What is sent to have this text said, in the voice of the samples, if any. Undefined fields are left out. */
export function fieldsOf(
  request: Request,
  input: string,
  { isAuthors }: SpeechFamily,
  reference_audio?: readonly string[],
): Fields {
  const { extra, prompt, voice, referenceId, speed } = request;
  const fields = {
    ...extra,
    input,
    voice: voice ?? (referenceId === undefined ? undefined : { id: referenceId }),
    ...(prompt && { instructions: prompt }),
    response_format: formatOf(request),
    speed,
  };
  if (isAuthors) return { ...fields, voice: fields.voice ?? VOICE };
  return { ...fields, reference_audio, ...Object.fromEntries(OTHERS.map((key) => [soundName(key), request[key]])) };
}

/** Ogg is what Opus comes in. What is joined has to be of one format that is known, whatever the upstream’s own is. */
function formatOf(request: Request): string | undefined {
  const { format = isLong(textOf(request)) ? 'mp3' : undefined } = request;
  return format === 'ogg' ? 'opus' : format;
}

export function samplesOf({ format, sampleRate }: Request): Pick<Speech, 'samples'> {
  return format === 'pcm' ? { samples: { rate: sampleRate ?? SAMPLE_RATE, channels: 1 } } : {};
}

/** Those in which one sound behind another is one sound: frames and samples without anything around them. */
const JOINABLE: ReadonlySet<string | undefined> = new Set([undefined, 'mp3', 'aac', 'pcm']);

/** Sound as its bytes, and not in events. */
const PLAIN: ReadonlySet<JsonValue | undefined> = new Set([undefined, null, 'audio']);

/** Throws ApiError for what the model cannot take, naming the first such field. */
export function checkFields(request: Request, family: SpeechFamily): void {
  const text = textOf(request);
  const wordless = request.voiceDescription === undefined ? 'prompt' : 'voice_description';
  refuse(wordless, text === '', 'none');
  refuse('lyrics', Boolean(request.input && request.lyrics), { notWith: 'input' });
  refuse('input', !JOINABLE.has(request.format) && isLong(text), {
    atMost: TEXT_CHARS_MAX,
    unit: `characters in ${formatOf(request)}`,
  });
  refuse('reference_id', request.referenceId !== undefined && request.voice !== undefined, { notWith: 'voice' });
  refuseKeys(request.extra, ['stream'], 'another value');
  refuse('stream_format', !PLAIN.has(request.extra.stream_format));
  if (family.isAuthors) checkAuthors(request, family);
}

function checkAuthors(request: Request, { takesInstructions }: SpeechFamily): void {
  const { prompt } = request;
  refuse('reference_audio', request.referenceAudio.length > 0, 'none');
  refuseOutside('speed', request.speed, 0.25, 4);
  refuse('prompt', Boolean(prompt) && !takesInstructions, 'none');
  for (const key of OTHERS) {
    const isMade = key === 'sampleRate' && request[key] === rateMade(request);
    const isAsked = request[key] !== undefined && request[key] !== false;
    refuse(soundName(key), isAsked && !isMade, 'none');
  }
}

/** Opus knows one rate only, whatever it was made from. */
function rateMade(request: Request): number {
  return formatOf(request) === 'opus' ? 48_000 : SAMPLE_RATE;
}

import { createHash } from 'node:crypto';
import { isUpload } from './uploads.ts';

/** Undefined if the value is one that the field takes. */
type Rule = (value: unknown) => string | undefined;

export interface Model {
  readonly fields: Readonly<Record<string, Rule>>;
  readonly required: readonly string[];
  readonly output: 'file' | 'files' | 'whisper' | 'chunks' | 'pieces';
  /** Only by its version, as models of the community. */
  readonly isVersioned?: boolean;
}

const text: Rule = (value) => (typeof value === 'string' ? undefined : 'Invalid type. Expected: string');
const textOf =
  (min: number, max: number): Rule =>
  (value) =>
    text(value) ?? (String(value).length >= min && String(value).length <= max ? undefined : 'Invalid length');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'Invalid type. Expected: boolean');
const DATA_URL_CHARS_MAX = 256 * 1024 + 100;
/** An address, a short data URL, or a file that was uploaded here. */
const file: Rule = (value) => {
  if (typeof value !== 'string') return 'Invalid type. Expected: string';
  if (value.startsWith('data:')) return value.length <= DATA_URL_CHARS_MAX ? undefined : 'Data URL is too large';
  return value.startsWith('https://') || isUpload(value) ? undefined : "Does not match format 'uri'";
};
const files =
  (most: number): Rule =>
  (value) =>
    Array.isArray(value) && value.length <= most && value.every((each) => file(each) === undefined)
      ? undefined
      : `Must be a list of at most ${most} files`;
const oneOf =
  (...known: readonly (string | number)[]): Rule =>
  (value) =>
    known.includes(value as string)
      ? undefined
      : `Must be one of ${known.map((each) => JSON.stringify(each)).join(', ')}`;
const words = (list: string): Rule => oneOf(...list.split(' '));

function within(from: number, to: number, step = 0): Rule {
  return (value) => {
    if (typeof value !== 'number' || (step > 0 && !Number.isInteger(value))) return 'Invalid type. Expected: number';
    if (value < from) return `Must be greater than or equal to ${from}`;
    return value > to ? `Must be less than or equal to ${to}` : undefined;
  };
}

const whole = (from: number, to: number): Rule => within(from, to, 1);
const seed = whole(0, 2 ** 31 - 1);
const any = words('webp jpg png');
const two = words('jpg png');
const fluxRatio = words('1:1 16:9 21:9 3:2 2:3 4:5 5:4 3:4 4:3 9:16 9:21');
const custom = words('match_input_image custom 1:1 16:9 3:2 2:3 4:5 5:4 9:16 3:4 4:3');

const drawn = { prompt: text, seed, output_format: any, output_quality: whole(0, 100) };
const schnell = {
  ...drawn,
  aspect_ratio: fluxRatio,
  num_outputs: whole(1, 4),
  num_inference_steps: whole(1, 50),
  megapixels: words('1 0.25'),
  go_fast: flag,
  disable_safety_checker: flag,
};
const flux2 = {
  ...drawn,
  aspect_ratio: custom,
  resolution: oneOf('match_input_image', '0.5 MP', '1 MP', '2 MP', '4 MP'),
  width: whole(256, 2048),
  height: whole(256, 2048),
  input_images: files(8),
  safety_tolerance: whole(1, 5),
};
const seedance = {
  prompt: text,
  seed,
  image: file,
  last_frame_image: file,
  duration: whole(2, 12),
  resolution: words('480p 720p 1080p'),
  aspect_ratio: words('16:9 4:3 1:1 3:4 9:16 21:9 9:21'),
  fps: oneOf(24),
  camera_fixed: flag,
};
const kling = {
  prompt: text,
  negative_prompt: text,
  start_image: file,
  aspect_ratio: words('16:9 9:16 1:1'),
  duration: oneOf(5, 10),
};
const spoken = {
  text,
  voice_id: text,
  speed: within(0.5, 2),
  volume: within(0, 10),
  pitch: whole(-12, 12),
  sample_rate: oneOf(8000, 16_000, 22_050, 24_000, 32_000, 44_100),
  bitrate: oneOf(32_000, 64_000, 128_000, 256_000),
  audio_format: words('mp3 wav flac pcm'),
  language_boost: oneOf('None', 'Automatic', 'Chinese', 'Chinese,Yue', 'English', 'German', 'French', 'Spanish'),
};

const one = (fields: Model['fields'], required = ['prompt']): Model => ({ fields, required, output: 'file' });
const many = (fields: Model['fields'], required = ['prompt']): Model => ({ fields, required, output: 'files' });

export const MODELS: ReadonlyMap<string, Model> = new Map([
  ['black-forest-labs/flux-schnell', many(schnell)],
  [
    'black-forest-labs/flux-dev',
    many({ ...schnell, image: file, prompt_strength: within(0, 1), guidance: within(0, 10) }),
  ],
  ['black-forest-labs/flux-2-pro', one(flux2)],
  ['black-forest-labs/flux-2-flex', one({ ...flux2, prompt_upsampling: flag, steps: whole(1, 50) })],
  [
    'black-forest-labs/flux-1.1-pro',
    one({ ...drawn, aspect_ratio: custom, width: whole(256, 1440), height: whole(256, 1440), image_prompt: file }),
  ],
  [
    'black-forest-labs/flux-1.1-pro-ultra',
    one({ prompt: text, seed, output_format: two, aspect_ratio: fluxRatio, image_prompt: file, raw: flag }),
  ],
  [
    'black-forest-labs/flux-kontext-pro',
    one({ prompt: text, seed, output_format: two, aspect_ratio: fluxRatio, input_image: file }),
  ],
  [
    'black-forest-labs/flux-fill-pro',
    one({ prompt: text, seed, output_format: two, image: file, mask: file }, ['prompt', 'image']),
  ],
  [
    'google/nano-banana-pro',
    one({
      prompt: text,
      output_format: two,
      aspect_ratio: fluxRatio,
      resolution: words('1K 2K 4K'),
      image_input: files(14),
    }),
  ],
  [
    'google/imagen-4',
    one({ prompt: text, output_format: two, aspect_ratio: words('1:1 9:16 16:9 3:4 4:3'), image_size: words('1K 2K') }),
  ],
  [
    'bytedance/seedream-4',
    many({
      prompt: text,
      size: words('1K 2K 4K custom'),
      width: whole(1024, 4096),
      height: whole(1024, 4096),
      aspect_ratio: words('match_input_image 1:1 4:3 3:4 16:9 9:16 3:2 2:3 21:9'),
      image_input: files(10),
      max_images: whole(1, 15),
      sequential_image_generation: words('disabled auto'),
      enhance_prompt: flag,
    }),
  ],
  ['bytedance/seedance-1-pro', one(seedance)],
  ['bytedance/seedance-1.5-pro', one({ ...seedance, generate_audio: flag })],
  [
    'bytedance/seedance-2.0',
    one({
      prompt: text,
      seed,
      image: file,
      last_frame_image: file,
      reference_images: files(9),
      reference_videos: files(3),
      reference_audios: files(3),
      duration: whole(-1, 15),
      resolution: seedance.resolution,
      aspect_ratio: words('16:9 4:3 1:1 3:4 9:16 21:9 adaptive'),
      generate_audio: flag,
    }),
  ],
  [
    'google/veo-3.1',
    one({
      prompt: text,
      seed,
      negative_prompt: text,
      image: file,
      last_frame: file,
      reference_images: files(3),
      duration: oneOf(4, 6, 8),
      resolution: words('720p 1080p'),
      aspect_ratio: words('16:9 9:16'),
      generate_audio: flag,
    }),
  ],
  ['kwaivgi/kling-v2.6', one({ ...kling, generate_audio: flag })],
  ['kwaivgi/kling-v2.5-turbo-pro', one({ ...kling, end_image: file })],
  [
    'minimax/hailuo-02',
    one({
      prompt: text,
      first_frame_image: file,
      last_frame_image: file,
      duration: oneOf(6, 10),
      resolution: words('512p 768p 1080p'),
      prompt_optimizer: flag,
    }),
  ],
  ['minimax/music-01', one({ lyrics: text, song_file: file, sample_rate: spoken.sample_rate }, [])],
  [
    'minimax/music-1.5',
    one(
      {
        prompt: textOf(10, 300),
        lyrics: textOf(10, 600),
        audio_format: words('mp3 wav pcm'),
        sample_rate: spoken.sample_rate,
        bitrate: spoken.bitrate,
      },
      ['prompt', 'lyrics'],
    ),
  ],
  ['elevenlabs/music', one({ prompt: text, music_length_ms: whole(5000, 300_000), force_instrumental: flag })],
  [
    'stability-ai/stable-audio-2.5',
    one({ prompt: text, seed, duration: whole(1, 190), steps: whole(4, 8), cfg_scale: within(1, 25) }),
  ],
  [
    'meta/musicgen',
    {
      ...one({ prompt: text, seed, duration: whole(1, 30), input_audio: file, output_format: words('wav mp3') }),
      isVersioned: true,
    },
  ],
  ['minimax/speech-02-hd', one(spoken, ['text'])],
  ['minimax/speech-2.6-hd', one({ ...spoken, subtitle_enable: flag }, ['text'])],
  ['jaaari/kokoro-82m', { ...one({ text, voice: text, speed: within(0.1, 5) }, ['text']), isVersioned: true }],
  [
    'openai/whisper',
    {
      fields: {
        audio: file,
        transcription: oneOf('plain text', 'srt', 'vtt'),
        translate: flag,
        language: text,
        temperature: within(0, 1),
        initial_prompt: text,
      },
      required: ['audio'],
      output: 'whisper',
      isVersioned: true,
    },
  ],
  [
    'vaibhavs10/incredibly-fast-whisper',
    {
      fields: {
        audio: file,
        task: words('transcribe translate'),
        language: words('None english german french spanish'),
        timestamp: words('chunk word'),
        batch_size: whole(1, 64),
        diarise_audio: flag,
      },
      required: ['audio'],
      output: 'chunks',
      isVersioned: true,
    },
  ],
  [
    'openai/gpt-4o-transcribe',
    {
      fields: { audio_file: file, prompt: text, language: text, temperature: within(0, 1) },
      required: ['audio_file'],
      output: 'pieces',
    },
  ],
]);

/** The id of the only version of a model. */
export function versionOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/** The name of the model that a version, with or without that name before it, is one of. */
export function modelOfVersion(version: unknown): string | undefined {
  return [...MODELS.keys()].find((name) => version === versionOf(name) || version === `${name}:${versionOf(name)}`);
}

/** What is wrong with an input, line by line as the vendor tells it. */
export function problemsOf(model: Model, input: unknown): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return ['- input: Invalid type. Expected: object'];
  const missing = model.required.filter((field) => !(field in input));
  const wrong = Object.entries(input).flatMap(([field, value]) => {
    const rule = model.fields[field];
    const problem = rule === undefined ? 'Additional property is not allowed' : rule(value);
    return problem === undefined ? [] : [`- input.${field}: ${problem}`];
  });
  return [...missing.map((field) => `- input: ${field} is required`), ...wrong];
}

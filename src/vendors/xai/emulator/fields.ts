/** Whether the vendor takes a value. */
type Rule = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Rule>>;

interface Route {
  readonly fields: Fields;
  readonly required: readonly string[];
}

const text: Rule = (value) => typeof value === 'string' && value !== '';
const flag: Rule = (value) => typeof value === 'boolean';
const exactly =
  (...values: readonly unknown[]): Rule =>
  (value) =>
    values.includes(value);
const whole =
  (from: number, to: number): Rule =>
  (value) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to;
const list =
  (rule: Rule, most: number): Rule =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= most && value.every(rule);
const medium =
  (kind: string): Rule =>
  (value) =>
    new RegExp(`^(https?://|data:${kind}/[\\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$)`).test(String(value));
const record =
  (fields: Fields, required: readonly string[]): Rule =>
  (value) =>
    problemIn(value, { fields, required }) === undefined;

/** The name of the first field that is missing or wrong; undefined where there is none. */
function problemIn(value: unknown, { fields, required }: Route): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'body';
  const missing = required.find((name) => !(name in value));
  return missing ?? Object.entries(value).find(([name, each]) => fields[name]?.(each) !== true)?.[0];
}

export const PICTURE_MODELS = ['grok-imagine-image', 'grok-imagine-image-pro', 'grok-imagine-image-2.0'];
export const CLIP_MODELS = ['grok-imagine-video', 'grok-imagine-video-1.5'];
const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];
const link = (kind: string) => record({ url: medium(kind) }, ['url']);
const source = record({ url: medium('image'), type: exactly('image_url') }, ['url', 'type']);
const picture: Fields = {
  model: exactly(...PICTURE_MODELS),
  prompt: text,
  n: whole(1, 10),
  response_format: exactly('b64_json', 'url'),
  aspect_ratio: exactly(...RATIOS, 'auto', '9:19.5', '19.5:9', '9:20', '20:9', '1:2', '2:1'),
  resolution: exactly('1k', '2k'),
  quality: exactly('low', 'medium', 'high'),
  output_format: exactly('png', 'jpeg', 'webp'),
  user: text,
};
const clip: Fields = {
  model: exactly(...CLIP_MODELS),
  prompt: (value) => text(value) && String(value).length <= 4096,
  user: text,
};

const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/images/generations': { fields: picture, required: ['model', 'prompt'] },
  '/v1/images/edits': { fields: { ...picture, image: source, images: list(source, 3) }, required: ['model', 'prompt'] },
  '/v1/videos/generations': {
    fields: {
      ...clip,
      duration: whole(1, 15),
      aspect_ratio: exactly(...RATIOS),
      resolution: exactly('480p', '720p', '1080p'),
      generate_audio: flag,
      image: link('image'),
      last_frame: link('image'),
      reference_images: list(link('image'), 7),
      reference_audios: list(link('audio'), 3),
    },
    required: ['model'],
  },
  '/v1/videos/edits': { fields: { ...clip, video: link('video') }, required: ['model', 'prompt', 'video'] },
  '/v1/tts': {
    fields: {
      text: (value) => text(value) && String(value).length <= 15_000,
      voice_id: text,
      language: text,
      output_format: record(
        {
          codec: exactly('mp3', 'wav', 'pcm', 'mulaw', 'alaw'),
          sample_rate: exactly(8000, 16_000, 22_050, 24_000, 44_100, 48_000),
          bit_rate: exactly(32_000, 64_000, 96_000, 128_000, 192_000),
        },
        ['codec'],
      ),
      speed: (value) => typeof value === 'number',
      text_normalization: flag,
    },
    required: ['text', 'language'],
  },
};

/** What is wrong with a body; undefined where nothing is. */
export function problemOf(path: string, body: unknown): string | undefined {
  const route = ROUTES[path];
  return route === undefined ? 'route' : (problemIn(body, route) ?? problemTogether(path, body as object));
}

/** What each field alone does not tell. */
function problemTogether(path: string, body: object): string | undefined {
  const has = (name: string) => name in body;
  if (path === '/v1/images/edits' && has('image') === has('images')) return 'image';
  if (has('image') && has('reference_images')) return 'reference_images';
  const { model, resolution } = body as { readonly model?: string; readonly resolution?: string };
  const isFirst = model === 'grok-imagine-video';
  if (resolution === '1080p' && (isFirst || has('reference_images'))) return 'resolution';
  return isFirst && has('last_frame') ? 'last_frame' : undefined;
}

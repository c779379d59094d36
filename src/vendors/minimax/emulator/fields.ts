/** Whether the vendor takes a value. */
type Rule = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Rule>>;

interface Model {
  readonly fields: Fields;
  readonly required: readonly string[];
}

const text: Rule = (value) => typeof value === 'string' && value !== '';
const flag: Rule = (value) => typeof value === 'boolean';
const exactly =
  (...values: readonly unknown[]): Rule =>
  (value) =>
    values.includes(value);
const within =
  (from: number, to: number): Rule =>
  (value) =>
    typeof value === 'number' && value >= from && value <= to;
const whole: Rule = (value) => Number.isInteger(value);
const list =
  (rule: Rule): Rule =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(rule);
const address: Rule = (value) => /^https?:\/\/\S+$/.test(String(value));
const medium =
  (kind: string): Rule =>
  (value) =>
    new RegExp(`^(https?://|data:${kind}/[\\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$)`).test(String(value));
const base64: Rule = (value) => /^[A-Za-z0-9+/]+={0,2}$/.test(String(value));
const record =
  (fields: Fields, required: readonly string[] = []): Rule =>
  (value) =>
    problemIn(value, { fields, required }) === undefined;

/** The first thing that is wrong; undefined where nothing is. */
function problemIn(value: unknown, { fields, required }: Model): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'an object is expected';
  const missing = required.find((name) => !(name in value));
  if (missing !== undefined) return `missing ${missing}`;
  return Object.entries(value).find(([name, each]) => fields[name]?.(each) !== true)?.[0];
}

const clip: Fields = {
  model: text,
  prompt: text,
  prompt_optimizer: flag,
  fast_pretreatment: flag,
  aigc_watermark: flag,
};
const start: Fields = { first_frame_image: medium('image') };
const lengths: Fields = { duration: exactly(6, 10) };
const oldest: Fields = { ...clip, duration: exactly(6), resolution: exactly('720P') };
const subject = (name: string, rule: Rule) =>
  list(record({ type: exactly('character'), [name]: rule }, ['type', name]));
const hailuo: Fields = { ...clip, ...lengths, ...start, resolution: exactly('768P', '1080P') };
const part = (kind: string, ...roles: readonly string[]): Rule =>
  record(
    {
      type: exactly(`${kind}_url`),
      [`${kind}_url`]: record({ url: medium(kind) }, ['url']),
      role: exactly(...roles),
    },
    // A picture without a role is the first frame.
    ['type', `${kind}_url`, ...(kind === 'image' ? [] : ['role'])],
  );
const PARTS: readonly Rule[] = [
  record({ type: exactly('text'), text }, ['type', 'text']),
  part('image', 'first_frame', 'last_frame', 'reference_image'),
  part('video', 'reference_video', 'base_video'),
  part('audio', 'reference_audio'),
];

const CLIPS: Readonly<Record<string, Model>> = {
  'MiniMax-Hailuo-2.3': { fields: hailuo, required: ['prompt'] },
  'MiniMax-Hailuo-2.3-Fast': { fields: hailuo, required: ['first_frame_image'] },
  'MiniMax-Hailuo-02': {
    fields: { ...hailuo, resolution: exactly('512P', '768P', '1080P'), last_frame_image: medium('image') },
    required: [],
  },
  'T2V-01': { fields: oldest, required: ['prompt'] },
  'I2V-01': { fields: { ...oldest, ...start }, required: ['first_frame_image'] },
  'S2V-01': {
    fields: { ...oldest, subject_reference: subject('image', list(medium('image'))) },
    required: ['subject_reference'],
  },
};
const LISTED: Model = {
  fields: {
    model: exactly('MiniMax-H3'),
    content: list((each) => PARTS.some((rule) => rule(each))),
    resolution: exactly('2K', '768P'),
    duration: (value) => whole(value) && within(4, 15)(value),
    ratio: exactly('adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'),
    seed: whole,
    aigc_watermark: flag,
    callback_url: address,
  },
  required: ['model', 'content'],
};
const PICTURE: Model = {
  fields: {
    model: exactly('image-01', 'image-01-live'),
    prompt: text,
    aspect_ratio: exactly('1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'),
    width: within(512, 2048),
    height: within(512, 2048),
    n: within(1, 9),
    seed: whole,
    prompt_optimizer: flag,
    response_format: exactly('url', 'base64'),
    subject_reference: subject('image_file', medium('image')),
    aigc_watermark: flag,
  },
  required: ['model', 'prompt'],
};
const sound: Fields = { sample_rate: exactly(8000, 16_000, 22_050, 24_000, 32_000, 44_100), bitrate: whole };
const SPOKEN: Model = {
  fields: {
    model: (value) => /^speech-/.test(String(value)),
    text: (value) => text(value) && String(value).length <= 10_000,
    stream: exactly(false),
    output_format: exactly('hex'),
    voice_setting: record({
      voice_id: text,
      speed: within(0.5, 2),
      vol: within(0.01, 10),
      pitch: within(-12, 12),
      emotion: text,
      text_normalization: flag,
      latex_read: flag,
    }),
    pronunciation_dict: record({ tone: list(text) }, ['tone']),
    timbre_weights: list(record({ voice_id: text, weight: within(1, 100) }, ['voice_id', 'weight'])),
    audio_setting: record({ ...sound, format: exactly('mp3', 'pcm', 'flac', 'wav'), channel: exactly(1, 2) }),
    language_boost: (value) => value === 'auto' || /^[A-Z][a-z]+(,Yue)?$/.test(String(value)),
    subtitle_enable: flag,
  },
  required: ['model', 'text', 'voice_setting'],
};
const SUNG: Model = {
  fields: {
    model: (value) => /^music-/.test(String(value)),
    prompt: text,
    lyrics: text,
    stream: exactly(false),
    output_format: exactly('hex'),
    is_instrumental: flag,
    lyrics_optimizer: flag,
    audio_setting: record({ ...sound, format: exactly('mp3', 'wav', 'pcm') }),
    audio_base64: base64,
  },
  required: ['model'],
};
const DESIGN: Model = {
  fields: { prompt: text, preview_text: text, voice_id: text },
  required: ['prompt', 'preview_text'],
};
const VOICES: Model = { fields: { voice_type: text }, required: ['voice_type'] };

const ROUTES: Readonly<Record<string, (model: string) => Model | undefined>> = {
  '/v1/video_generation': (model) => CLIPS[model],
  '/v2/video_generation': () => LISTED,
  '/v1/image_generation': () => PICTURE,
  '/v1/t2a_v2': () => SPOKEN,
  '/v1/music_generation': () => SUNG,
  '/v1/voice_design': () => DESIGN,
  '/v1/get_voice': () => VOICES,
};

/** What is wrong with a body; undefined where nothing is. */
export function problemOf(path: string, body: Readonly<Record<string, unknown>>): string | undefined {
  const model = ROUTES[path]?.(String(body.model));
  if (model === undefined) return 'unknown model';
  return problemIn(body, model) ?? problemTogether(path, body);
}

/** What each field alone does not tell. */
function problemTogether(path: string, body: Readonly<Record<string, unknown>>): string | undefined {
  if (body.duration === 10 && body.resolution === '1080P') return 'duration 10 with 1080P';
  if ('width' in body !== 'height' in body) return 'width without height';
  if (path === '/v1/t2a_v2') return hasVoice(body) ? undefined : 'missing voice_id';
  if (path === '/v2/video_generation')
    return problemOfParts(body.content as readonly { type: string; role?: string }[]);
  if (path !== '/v1/music_generation') return undefined;
  if (body.model === 'music-cover') return 'audio_base64' in body ? undefined : 'missing audio_base64';
  const isSilent = body.is_instrumental === true || body.lyrics_optimizer === true;
  return isSilent || 'lyrics' in body ? undefined : 'missing lyrics';
}

function hasVoice({ voice_setting, timbre_weights }: Readonly<Record<string, unknown>>): boolean {
  return timbre_weights !== undefined || 'voice_id' in (voice_setting as object);
}

function problemOfParts(parts: readonly { type: string; role?: string }[]): string | undefined {
  if (parts.filter(({ type }) => type === 'text').length !== 1) return 'one text is expected';
  const roles = parts.flatMap(({ type, role = 'first_frame' }) => (type === 'text' ? [] : [role]));
  const isFrame = roles.some((role) => role.endsWith('_frame'));
  return isFrame && roles.some((role) => !role.endsWith('_frame')) ? 'frames beside references' : undefined;
}

/** What is wrong with a value; undefined where nothing is. */
type Rule = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, Rule>>;
type Body = Readonly<Record<string, unknown>>;

export interface Model {
  readonly path: string;
  /** What it is asked for with: a task needs its header. */
  readonly makes: 'clip' | 'pictures' | 'message with pictures' | 'speech' | 'transcript';
  readonly input: Fields;
  readonly parameters: Fields;
  readonly required: readonly string[];
}

const SERVICES = '/api/v1/services/aigc';
export const GENERATION = `${SERVICES}/multimodal-generation/generation`;

const text: Rule = (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a string');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'must be a boolean');
const among =
  (...words: readonly unknown[]): Rule =>
  (value) =>
    words.includes(value) ? undefined : `must be one of ${words.join(', ')}`;
const whole =
  (from: number, to: number): Rule =>
  (value) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to ? undefined : `must be ${from} to ${to}`;
const upTo =
  (most: number): Rule =>
  (value) =>
    typeof value === 'string' && value.length <= most ? undefined : `must have at most ${most} characters`;

const address: Rule = (value) => (/^https?:\/\/\S+$/.test(String(value)) ? undefined : 'must be a valid url');
/** An address, or a data URL. */
const picture: Rule = (value) =>
  /^data:image\/[a-z]+;base64,[A-Za-z0-9+/]+={0,2}$/.test(String(value)) ? undefined : address(value);
const sound: Rule = (value) =>
  /^data:audio\/[a-z0-9-]+;base64,[A-Za-z0-9+/]+={0,2}$/.test(String(value)) ? undefined : address(value);

const listOf =
  (rule: Rule, from: number, to: number): Rule =>
  (value) => {
    if (!Array.isArray(value) || value.length < from || value.length > to) return `must have ${from} to ${to} items`;
    return value.map(rule).find((problem) => problem !== undefined);
  };

/** `W*H`, or one of the words. */
const sizes =
  (from: number, to: number, ...words: readonly string[]): Rule =>
  (value) => {
    if (words.includes(String(value))) return undefined;
    const [, width = '0', height = '0'] = /^(\d+)\*(\d+)$/.exec(String(value)) ?? [];
    const pixels = Number(width) * Number(height);
    return pixels >= from ** 2 && pixels <= to ** 2 ? undefined : 'size must be within the limits of the model';
  };

/** One message of a user, with its words first, and before it one of the system where there is one. */
const messages =
  (parts: Readonly<Record<string, Rule>>, pictures: readonly [number, number] = [0, 0]): Rule =>
  (value) => {
    if (!Array.isArray(value) || value.at(-1)?.role !== 'user') return 'must end with a message of the user';
    const content = value.flatMap((message) => (Array.isArray(message.content) ? message.content : [{}]));
    const images = content.filter((part) => 'image' in part).length;
    if (images < pictures[0] || images > pictures[1]) return `must have ${pictures.join(' to ')} images`;
    return content.map((part) => problemIn(part, parts)).find((problem) => problem !== undefined);
  };

function problemIn(part: Body, rules: Fields): string | undefined {
  const [name = ''] = Object.keys(part);
  return rules[name] === undefined ? `has an unknown part ${name}` : rules[name](part[name]);
}

const SEED = { seed: whole(0, 2 ** 31 - 1), watermark: flag };
const EXTEND = { prompt_extend: flag };
const WORDS = { prompt: text, negative_prompt: upTo(500) };

function clips(seconds: Rule, input: Fields, parameters: Fields, required: readonly string[]): Model {
  return {
    path: `${SERVICES}/video-generation/video-synthesis`,
    makes: 'clip',
    input: { ...WORDS, template: text, ...input },
    parameters: { ...SEED, ...EXTEND, duration: seconds, ...parameters },
    required,
  };
}

const CLIP_SIZES = [
  ...['832*480', '480*832', '624*624', '1280*720', '720*1280', '960*960', '1088*832', '832*1088'],
  ...['1920*1080', '1080*1920', '1440*1440', '1632*1248', '1248*1632'],
];
const SIZE = { size: among(...CLIP_SIZES) };
const UPPER_SIZE = { size: among(...CLIP_SIZES.slice(3)) };
const TIER = { resolution: among('480P', '720P', '1080P') };
const UPPER_TIER = { resolution: among('720P', '1080P') };
const RATIO = { ratio: among('16:9', '9:16', '1:1', '4:3', '3:4') };
const AUDIO = { audio: flag, shot_type: among('single', 'multi') };
const MEDIA = (types: Readonly<Record<string, Rule>>) => ({
  media: listOf(
    (item) => {
      const { type, url, ...rest } = item as Body;
      if (Object.keys(rest).length > 0) return 'has an unknown key';
      return types[String(type)]?.(url) ?? (types[String(type)] ? undefined : `type ${String(type)} is not supported`);
    },
    1,
    9,
  ),
});

function pictures(makes: Model['makes'], path: string, input: Fields, parameters: Fields): Model {
  const required = Object.keys(input).filter((name) => name !== 'negative_prompt');
  return { path: SERVICES + path, makes, input, parameters: { ...SEED, ...parameters }, required };
}

const TEXT_TO_IMAGE = '/text2image/image-synthesis';
const IMAGE_TASK = '/image-generation/generation';
const LINE = '/multimodal-generation/generation';
const PARTS = { text, image: picture };
const NEGATIVE = { negative_prompt: upTo(500), ...EXTEND };

export const MODELS: ReadonlyMap<string, Model> = new Map<string, Model>([
  ['wan2.5-t2v-preview', clips(among(5, 10), { audio_url: address }, { ...SIZE, ...AUDIO }, ['prompt'])],
  ['wan2.6-t2v', clips(among(5, 10, 15), { audio_url: address }, { ...UPPER_SIZE, ...AUDIO }, ['prompt'])],
  [
    'wan2.5-i2v-preview',
    clips(among(5, 10), { img_url: picture, audio_url: address }, { ...TIER, ...AUDIO }, ['img_url']),
  ],
  [
    'wan2.6-i2v',
    clips(among(5, 10, 15), { img_url: picture, audio_url: address }, { ...UPPER_TIER, ...AUDIO }, ['img_url']),
  ],
  [
    'wan2.6-r2v',
    clips(among(5, 10), { reference_urls: listOf(address, 1, 5) }, { ...UPPER_SIZE, ...AUDIO }, [
      'prompt',
      'reference_urls',
    ]),
  ],
  ['wan2.2-t2v-plus', clips(among(5), {}, SIZE, ['prompt'])],
  [
    'wan2.2-kf2v-flash',
    {
      ...clips(among(5), { first_frame_url: picture, last_frame_url: picture }, TIER, ['first_frame_url']),
      path: `${SERVICES}/image2video/video-synthesis`,
    },
  ],
  ['wan2.7-t2v', clips(whole(2, 15), { audio_url: address }, { ...UPPER_TIER, ...RATIO }, ['prompt'])],
  [
    'wan2.7-i2v',
    clips(
      whole(2, 15),
      MEDIA({ first_frame: picture, last_frame: picture, first_clip: address, driving_audio: address }),
      UPPER_TIER,
      ['media'],
    ),
  ],
  [
    'wan2.7-r2v',
    clips(
      whole(2, 10),
      MEDIA({ reference_image: picture, reference_video: address, first_frame: picture }),
      { ...UPPER_TIER, ...RATIO },
      ['prompt', 'media'],
    ),
  ],
  [
    'wan2.7-videoedit',
    clips(
      whole(2, 10),
      MEDIA({ video: address, reference_image: picture }),
      { ...UPPER_TIER, audio_setting: among('auto', 'origin') },
      ['media'],
    ),
  ],
  [
    'wan3.0-video',
    clips(
      whole(2, 30),
      MEDIA({
        first_frame: picture,
        last_frame: picture,
        reference_image: picture,
        reference_video: address,
        reference_audio: address,
      }),
      { ...TIER, ratio: among('adaptive', '16:9', '9:16', '1:1', '4:3', '3:4'), audio: flag },
      ['prompt'],
    ),
  ],
  [
    'wan2.5-t2i-preview',
    pictures('pictures', TEXT_TO_IMAGE, WORDS, { ...EXTEND, n: whole(1, 4), size: sizes(768, 1440) }),
  ],
  [
    'wan2.2-t2i-flash',
    pictures('pictures', TEXT_TO_IMAGE, WORDS, { ...EXTEND, n: whole(1, 4), size: sizes(512, 1440) }),
  ],
  [
    'wan2.5-i2i-preview',
    pictures(
      'pictures',
      '/image2image/image-synthesis',
      { ...WORDS, images: listOf(picture, 1, 3) },
      { ...EXTEND, n: whole(1, 4), size: sizes(768, 1280) },
    ),
  ],
  [
    'wan2.6-image',
    pictures(
      'message with pictures',
      IMAGE_TASK,
      { messages: messages(PARTS, [1, 4]) },
      { ...NEGATIVE, n: whole(1, 4), size: sizes(768, 2048, '1K', '2K'), enable_interleave: flag },
    ),
  ],
  [
    'wan2.7-image-pro',
    pictures(
      'message with pictures',
      IMAGE_TASK,
      { messages: messages(PARTS, [0, 9]) },
      { n: whole(1, 4), size: sizes(768, 4096, '1K', '2K', '4K'), enable_sequential: flag, thinking_mode: flag },
    ),
  ],
  [
    'qwen-image-plus',
    pictures(
      'message with pictures',
      LINE,
      { messages: messages(PARTS) },
      {
        ...NEGATIVE,
        n: among(1),
        size: among('1664*928', '1472*1104', '1328*1328', '1104*1472', '928*1664'),
      },
    ),
  ],
  [
    'qwen-image-2.0',
    pictures(
      'message with pictures',
      LINE,
      { messages: messages(PARTS, [0, 3]) },
      {
        ...NEGATIVE,
        n: whole(1, 6),
        size: sizes(512, 2048),
      },
    ),
  ],
  [
    'qwen3-tts-flash',
    {
      path: GENERATION,
      makes: 'speech',
      input: {
        text: upTo(600),
        voice: text,
        language_type: among('Auto', 'Chinese', 'English', 'German', 'French', 'Japanese'),
      },
      parameters: {},
      required: ['text', 'voice'],
    },
  ],
  [
    'qwen3-asr-flash',
    {
      path: GENERATION,
      makes: 'transcript',
      input: { messages: messages({ text, audio: sound }) },
      parameters: {
        asr_options: (value) => {
          const known = ['language', 'enable_itn', 'enable_lid'];
          const unknown = Object.keys(value as Body).find((name) => !known.includes(name));
          return unknown === undefined ? undefined : `has an unknown key ${unknown}`;
        },
      },
      required: ['messages'],
    },
  ],
]);

/** What is wrong with a body, in the vendor's words; undefined where nothing is. */
export function problemOf(body: Body, model: Model): string | undefined {
  const { input = {}, parameters = {}, model: _name, ...rest } = body as Record<string, Body>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `Unknown field ${unknown}`;
  const missing = model.required.find((name) => !(name in input));
  if (missing !== undefined) return `Field required: input.${missing}`;
  return problemsOf(input, model.input, 'input') ?? problemsOf(parameters, model.parameters, 'parameters');
}

function problemsOf(values: Body, rules: Fields, half: string): string | undefined {
  for (const [name, value] of Object.entries(values)) {
    const problem = Object.hasOwn(rules, name) ? rules[name]?.(value) : 'is not supported by the model';
    if (problem !== undefined) return `${half}.${name} ${problem}`;
  }
  return undefined;
}

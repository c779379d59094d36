/** What is wrong with a value; undefined where nothing is. */
type Rule = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, Rule>>;
type Body = Readonly<Record<string, unknown>>;

interface Model {
  readonly fields: Fields;
  readonly required: readonly string[];
}

const text: Rule = (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a string');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'must be a boolean');
const among =
  (...words: readonly string[]): Rule =>
  (value) =>
    words.includes(String(value)) && typeof value === 'string' ? undefined : `must be one of ${words.join(', ')}`;
const whole =
  (from: number, to: number): Rule =>
  (value) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to ? undefined : `must be ${from} to ${to}`;

/** An address, or a data URL whose format is in lower case. */
const picture: Rule = (value) => {
  const isPicture = /^(https?:\/\/\S+|data:image\/[a-z]+;base64,[A-Za-z0-9+/]+={0,2})$/.test(String(value));
  return typeof value === 'string' && isPicture ? undefined : 'must be a valid image url';
};
const address: Rule = (value) => (/^(https?|asset):\/\/\S+$/.test(String(value)) ? undefined : 'must be a valid url');

/** By the type of an item: the roles that it can have, and what its address may be. */
const ITEMS: Readonly<Record<string, readonly [roles: readonly string[], rule: Rule]>> = {
  image_url: [['first_frame', 'last_frame', 'reference_image'], picture],
  video_url: [['reference_video'], address],
  audio_url: [['reference_audio'], address],
};

function content(allowed: readonly string[]): Rule {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0) return 'must be a list';
    const roles = new Set(value.map(({ role }) => role).filter((role) => role !== undefined));
    const isMixed = roles.has('first_frame') && [...roles].some((role) => String(role).startsWith('reference'));
    if (isMixed) return 'first/last frame content cannot be mixed with reference media content';
    if (roles.has('last_frame') && !roles.has('first_frame')) return 'last frame without first frame';
    return value.map((item) => itemProblem(withRole(item, value), allowed)).find((problem) => problem !== undefined);
  };
}

/** A picture without a role is the first frame where it is the only one. */
function withRole(item: Body, all: readonly Body[]): Body {
  const isOnly = item.role === undefined && all.filter(({ type }) => type === 'image_url').length === 1;
  return isOnly && item.type === 'image_url' ? { ...item, role: 'first_frame' } : item;
}

function itemProblem(item: Body, allowed: readonly string[]): string | undefined {
  const { type, role, ...rest } = item;
  if (type === 'text') return text(rest.text);
  const [roles, rule] = ITEMS[String(type)] ?? [[], address];
  if (!roles.includes(String(role)) || !allowed.includes(String(role)))
    return `role ${String(role)} of ${String(type)} is not supported`;
  const holder = rest[String(type)] as Body | undefined;
  return rule(holder?.url);
}

const FRAMES = ['first_frame', 'last_frame'];
const REFERENCES = ['reference_image', 'reference_video', 'reference_audio'];

function clips(seconds: Rule, tiers: readonly string[], roles: readonly string[], more: Fields = {}): Model {
  return {
    required: ['model', 'content'],
    fields: {
      model: text,
      content: content(roles),
      duration: seconds,
      resolution: among(...tiers),
      ratio: among('16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'),
      seed: whole(-1, 2 ** 32 - 1),
      watermark: flag,
      return_last_frame: flag,
      service_tier: among('default', 'flex'),
      execution_expires_after: whole(3600, 259_200),
      safety_identifier: (value) => text(value) ?? (String(value).length <= 64 ? undefined : 'is too long'),
      ...more,
    },
  };
}

function drawings(tiers: readonly string[], pixels: readonly [number, number], most: number, more: Fields = {}): Model {
  const size: Rule = (value) => {
    if (tiers.includes(String(value))) return undefined;
    const [width = 0, height = 0] = String(value).split('x').map(Number);
    const isRight =
      width * height >= pixels[0] && width * height <= pixels[1] && Math.max(width / height, height / width) <= 16;
    return isRight ? undefined : 'image size must be within the limits of the model';
  };
  const images: Rule = (value) => {
    const list = Array.isArray(value) ? value : [value];
    if (list.length > most) return `must have at most ${most} images`;
    return list.map(picture).find((problem) => problem !== undefined);
  };
  const options = {
    watermark: flag,
    response_format: among('url', 'b64_json'),
    optimize_prompt_options: () => undefined,
  };
  const fields = { model: text, prompt: text, size, ...options, ...(most > 0 && { image: images }), ...more };
  return { required: ['model', 'prompt'], fields };
}

const TIERS = ['480p', '720p', '1080p'];
const SOUND = { generate_audio: flag };
const CAMERA = { camera_fixed: flag };
const DRAFT = { draft: flag };
/** Related pictures of one prompt. */
const SERIES: Fields = {
  sequential_image_generation: among('auto', 'disabled'),
  sequential_image_generation_options: (value) => whole(1, 15)((value as Body | null)?.max_images),
};
const FORMAT = { output_format: among('png', 'jpeg') };
const SEED = { seed: whole(-1, 2 ** 31 - 1), guidance_scale: whole(1, 10) };

export const CLIPS: ReadonlyMap<string, Model> = new Map([
  ['seedance-1-0-lite-t2v-250428', clips(whole(2, 12), TIERS, [], CAMERA)],
  ['seedance-1-0-lite-i2v-250428', clips(whole(2, 12), TIERS, [...FRAMES, 'reference_image'], CAMERA)],
  ['seedance-1-0-pro-250528', clips(whole(2, 12), TIERS, FRAMES, CAMERA)],
  ['seedance-1-0-pro-fast-251015', clips(whole(2, 12), TIERS, ['first_frame'], CAMERA)],
  ['seedance-1-5-pro-251215', clips(whole(4, 12), TIERS, FRAMES, { ...CAMERA, ...SOUND, ...DRAFT })],
  ['dreamina-seedance-2-0-260128', clips(whole(4, 15), TIERS, [...FRAMES, ...REFERENCES], SOUND)],
  ['dreamina-seedance-2-5-260628', clips(whole(4, 30), ['480p', '720p'], [...FRAMES, ...REFERENCES], SOUND)],
]);

export const PICTURES: ReadonlyMap<string, Model> = new Map([
  ['seedream-3-0-t2i-250415', drawings(['1K', '2K'], [512 * 512, 2048 * 2048], 0, SEED)],
  ['seedream-4-0-250828', drawings(['1K', '2K', '4K'], [1280 * 720, 4096 * 4096], 14, SERIES)],
  ['seedream-4-5-251128', drawings(['2K', '4K'], [2560 * 1440, 4096 * 4096], 14, SERIES)],
  ['seedream-5-0-260128', drawings(['2K', '3K'], [2560 * 1440, 3072 * 3072], 14, { ...FORMAT, ...SERIES })],
  ['dola-seedream-5-0-pro-260628', drawings(['1K', '2K'], [1024 * 1024, 2048 * 2048], 10, FORMAT)],
]);

/** The vendor's name and words for what is wrong with a body; undefined where nothing is. */
export function problemOf(body: Body, { fields, required }: Model): readonly [code: string, words: string] | undefined {
  const missing = required.find((name) => !(name in body));
  if (missing !== undefined) return ['MissingParameter', `the request is missing \`${missing}\``];
  for (const [name, value] of Object.entries(body)) {
    const problem = Object.hasOwn(fields, name) ? fields[name]?.(value) : 'is not supported by the model';
    if (problem !== undefined) return ['InvalidParameter', `the parameter \`${name}\` ${problem}`];
  }
  return undefined;
}

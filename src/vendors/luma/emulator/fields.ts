import { isObject } from '../../emulator/json.ts';

interface Problem {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
  /** What was sent, as the vendor repeats it. */
  readonly input: unknown;
}

/** What is wrong with a value; undefined where nothing is. */
type Rule = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, Rule>>;

const text: Rule = (value) => (typeof value === 'string' ? undefined : 'Input should be a valid string');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'Input should be a valid boolean');
const seconds: Rule = (value) => (typeof value === 'number' ? undefined : 'Input should be a valid number');
/** The vendor fetches it; a data URL is none. */
const address: Rule = (value) =>
  /^https?:\/\/[^\s]+$/.test(String(value)) ? undefined : 'Input should be a valid URL';
const weight: Rule = (value) =>
  Number(value) >= 0 && Number(value) <= 1 ? undefined : 'Input should be between 0 and 1';

function oneOf(...words: readonly string[]): Rule {
  return (value) => (words.some((word) => word === value) ? undefined : `Input should be ${words.join(' or ')}`);
}

function object(fields: Fields, ...required: readonly string[]): Rule {
  return (value) => (isObject(value) ? problemsIn(value, fields, required)[0]?.msg : 'Input should be an object');
}

function list(rule: Rule, max: number): Rule {
  return (value) => {
    if (!Array.isArray(value) || value.length > max) return `Input should be a list of at most ${max} items`;
    return value.map(rule).find((problem) => problem !== undefined);
  };
}

const ratio = oneOf('1:1', '16:9', '9:16', '4:3', '3:4', '21:9', '9:21');
const reference = object({ url: address, weight }, 'url');
const place = object({ url: address }, 'url');
const keyframe: Rule = (value) =>
  isObject(value) && value.type === 'generation'
    ? object({ type: text, id: text }, 'id')(value)
    : object({ type: oneOf('image'), url: address }, 'type', 'url')(value);

const ray = oneOf('ray-2', 'ray-flash-2');
const MODES = ['adhere', 'flex', 'reimagine'].flatMap((name) => [1, 2, 3].map((degree) => `${name}_${degree}`));

const ROUTES: Readonly<Record<string, { readonly fields: Fields; readonly required: readonly string[] }>> = {
  '/generations/image': {
    fields: {
      model: oneOf('photon-1', 'photon-flash-1'),
      prompt: text,
      aspect_ratio: ratio,
      format: oneOf('jpg', 'png'),
      image_ref: list(reference, 4),
      style_ref: list(reference, 1),
      character_ref: object({ identity0: object({ images: list(address, 4) }) }),
      modify_image_ref: reference,
      generation_type: oneOf('image'),
      sync: flag,
      sync_timeout: seconds,
      callback_url: address,
    },
    required: ['model'],
  },
  '/generations/video': {
    fields: {
      model: ray,
      prompt: text,
      aspect_ratio: ratio,
      duration: oneOf('5s', '9s'),
      resolution: oneOf('540p', '720p', '1080p', '4k'),
      loop: flag,
      keyframes: object({ frame0: keyframe, frame1: keyframe }),
      concepts: list(object({ key: text }, 'key'), 10),
      generation_type: oneOf('video'),
      callback_url: address,
    },
    required: ['model'],
  },
  '/generations/video/modify': {
    fields: {
      model: ray,
      generation_type: oneOf('modify_video'),
      media: place,
      mode: oneOf(...MODES),
      first_frame: place,
      prompt: text,
      callback_url: address,
    },
    required: ['model', 'generation_type', 'media', 'mode'],
  },
};

/** What is wrong with a submission; undefined for a route that there is not. */
export function problemsOf(path: string, body: Readonly<Record<string, unknown>>): Problem[] | undefined {
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  return route && problemsIn(body, route.fields, route.required);
}

function problemsIn(body: Readonly<Record<string, unknown>>, fields: Fields, required: readonly string[]): Problem[] {
  const missing = required.filter((name) => !(name in body));
  return [
    ...missing.map((name) => ({ loc: ['body', name], msg: 'Field required', type: 'missing', input: body })),
    ...Object.entries(body).flatMap(([name, input]) => {
      const rule = Object.hasOwn(fields, name) ? fields[name] : () => 'Extra inputs are not permitted';
      const msg = rule?.(input);
      return msg === undefined ? [] : [{ loc: ['body', name], msg, type: 'value_error', input }];
    }),
  ];
}

/** What is wrong with a value; undefined where nothing is. */
type Rule = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, Rule>>;
type Body = Readonly<Record<string, unknown>>;

interface Form {
  readonly fields: Fields;
  readonly required: readonly string[];
  /** What depends on several fields. */
  readonly whole?: (body: Body) => string | undefined;
}

const words: Rule = (value) => (typeof value === 'string' && value.length <= 2500 ? undefined : 'is invalid');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'must be a boolean');
const among =
  (...known: readonly string[]): Rule =>
  (value) =>
    typeof value === 'string' && known.includes(value) ? undefined : `value '${String(value)}' is invalid`;
const number =
  (from: number, to: number): Rule =>
  (value) =>
    typeof value === 'number' && value >= from && value <= to ? undefined : `value '${String(value)}' is invalid`;

/** An address, or bare base64: a data URL is neither. */
const picture: Rule = (value) => {
  const isPicture = /^(https?:\/\/\S+|[A-Za-z0-9+/]+={0,2})$/.test(String(value));
  return typeof value === 'string' && isPicture ? undefined : 'is not a valid image';
};

function list(rule: Rule, most: number): Rule {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > most) return 'must be a list';
    return value.map(rule).find((problem) => problem !== undefined);
  };
}

function object(form: Form): Rule {
  return (value) =>
    typeof value === 'object' && value !== null ? problemIn(value as Body, form) : 'must be an object';
}

const watermark = object({ fields: { enabled: flag }, required: ['enabled'] });
const ratio = among('16:9', '9:16', '1:1');
const named: Fields = {
  external_task_id: (value) => (typeof value === 'string' && value !== '' ? undefined : 'is empty'),
};
const usual: Fields = {
  ...named,
  prompt: words,
  negative_prompt: words,
  duration: among('5', '10'),
  mode: among('std', 'pro'),
  watermark_info: watermark,
  cfg_scale: number(0, 1),
};
const longer: Fields = { duration: among(...Array.from({ length: 13 }, (_, at) => String(at + 3))) };
const sound: Fields = { sound: among('on', 'off') };

/** By the name of a model: how it is asked for clips from words, by frames and by pictures to go by. */
const CLIPS: Readonly<Record<string, readonly [fields: Fields, ...ways: readonly string[]]>> = {
  'kling-v1': [usual, 'text2video', 'image2video'],
  'kling-v1-6': [usual, 'text2video', 'image2video', 'multi-image2video'],
  'kling-v2-master': [without(usual, 'mode'), 'text2video', 'image2video'],
  'kling-v2-1': [usual, 'image2video'],
  'kling-v2-1-master': [without(usual, 'mode'), 'text2video', 'image2video'],
  'kling-v2-5-turbo': [usual, 'text2video', 'image2video'],
  'kling-v2-6': [{ ...usual, ...sound }, 'text2video', 'image2video'],
  'kling-v3': [{ ...usual, ...longer, ...sound }, 'text2video', 'image2video'],
};

/** What each way takes besides. */
const WAYS: Readonly<Record<string, Form>> = {
  text2video: { fields: { aspect_ratio: ratio }, required: ['prompt'] },
  image2video: { fields: { image: picture, image_tail: picture }, required: ['image'] },
  'multi-image2video': {
    fields: { aspect_ratio: ratio, image_list: list(object({ fields: { image: picture }, required: ['image'] }), 4) },
    required: ['prompt', 'image_list'],
  },
};

const needsPro = ({ mode, sound: heard, image_tail: tail }: Body) =>
  (heard === 'on' || tail !== undefined) && mode !== 'pro' ? 'mode must be pro' : undefined;

const PICTURES: Form = {
  fields: {
    ...named,
    model_name: among('kling-v1', 'kling-v1-5', 'kling-v2', 'kling-v3'),
    prompt: words,
    negative_prompt: words,
    image: picture,
    image_reference: among('subject', 'face'),
    image_fidelity: number(0, 1),
    human_fidelity: number(0, 1),
    n: number(1, 9),
    aspect_ratio: among('16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'),
    resolution: among('1k', '2k'),
  },
  required: ['model_name', 'prompt'],
  whole: ({ model_name: model, image, image_reference: reference, negative_prompt: negative }) => {
    if (image !== undefined && negative !== undefined) return 'negative_prompt is not supported with image';
    return model === 'kling-v1-5' && image !== undefined && reference === undefined ? 'image_reference' : undefined;
  },
};

const turbo: Fields = {
  settings: object({
    fields: { aspect_ratio: ratio, duration: number(3, 15), resolution: among('720p', '1080p') },
    required: [],
  }),
  options: object({ fields: { ...named, watermark_info: watermark }, required: [] }),
};
const SECOND: Readonly<Record<string, Form>> = {
  '/text-to-video/kling-3.0-turbo': { fields: { ...turbo, prompt: words }, required: ['prompt'] },
  '/image-to-video/kling-3.0-turbo': {
    fields: {
      ...turbo,
      contents: list((item) => {
        const { type, text, url } = item as Body;
        return type === 'prompt' ? words(text) : type === 'first_frame' ? picture(url) : 'type is invalid';
      }, 2),
    },
    required: ['contents'],
  },
};

/** How a body for this path must be; undefined where there is no such path, or no such model on it. */
export function formAt(path: string, { model_name: model }: Body): Form | undefined {
  if (path === '/v1/images/generations') return PICTURES;
  const [, way = ''] = /^\/v1\/videos\/([\w-]+)$/.exec(path) ?? [];
  const [fields, ...ways] = CLIPS[String(model)] ?? [{}, ''];
  const form = ways.includes(way) ? WAYS[way] : undefined;
  if (form === undefined) return SECOND[path];
  return { fields: { model_name: words, ...fields, ...form.fields }, required: form.required, whole: needsPro };
}

/** What is wrong with a body, in the vendor's words; undefined where nothing is. */
export function problemIn(body: Body, { fields, required, whole }: Form): string | undefined {
  const missing = required.find((name) => !(name in body));
  if (missing !== undefined) return `${missing} is required`;
  for (const [name, value] of Object.entries(body)) {
    const problem = Object.hasOwn(fields, name) ? fields[name]?.(value) : 'is not supported';
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return whole?.(body);
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
}

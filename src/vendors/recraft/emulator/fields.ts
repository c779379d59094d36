/** Whether the vendor takes a value. */
type Rule = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Rule>>;

interface Route {
  readonly fields: Fields;
  readonly required: readonly string[];
  /** The models that do this work. */
  readonly models: RegExp;
}

const text: Rule = (value) => typeof value === 'string' && value !== '';
const flag: Rule = (value) => typeof value === 'boolean';
const record: Rule = (value) => typeof value === 'object' && value !== null;
const within =
  (from: number, to: number): Rule =>
  (value) =>
    typeof value === 'number' && value >= from && value <= to;
const exactly =
  (...values: readonly unknown[]): Rule =>
  (value) =>
    values.includes(value);
const picture: Rule = (value) =>
  /^(https?:\/\/|data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$)/.test(String(value));

const made: Fields = {
  model: text,
  prompt: text,
  n: (value) => Number.isInteger(value) && within(1, 6)(value),
  style: exactly('realistic_image', 'digital_illustration', 'vector_illustration', 'icon', 'logo_raster'),
  substyle: text,
  style_id: text,
  negative_prompt: text,
  random_seed: (value) => Number.isInteger(value) && within(0, 2 ** 32 - 1)(value),
  response_format: exactly('url', 'b64_json'),
  image_format: exactly('png', 'webp'),
  controls: record,
  text_layout: record,
  block_nsfw: flag,
  expire: flag,
};

const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/images/generations': {
    fields: { ...made, size: (value) => /^\d{3,4}x\d{3,4}$/.test(String(value)) },
    required: ['prompt'],
    models: /^recraftv(2|3|4(_1)?(_flash|_utility|_styles)?(_pro)?)(_vector)?$/,
  },
  '/v1/images/imageToImage': {
    fields: { ...made, image_url: picture, strength: within(0, 1) },
    required: ['prompt', 'image_url', 'strength'],
    models: /^recraftv(3|4)/,
  },
  '/v1/images/inpaint': {
    fields: { ...made, image_url: picture, mask_url: picture },
    required: ['prompt', 'image_url', 'mask_url'],
    models: /^recraftv3/,
  },
};

type Body = Readonly<Record<string, unknown>>;

/** What is wrong with a body; undefined where nothing is, `route` where there is no such call. */
export function problemOf(path: string, body: Body): string | undefined {
  const route = ROUTES[path];
  if (route === undefined) return 'route';
  const missing = route.required.find((name) => !(name in body));
  const wrong = Object.entries(body).find(([name, value]) => route.fields[name]?.(value) !== true)?.[0];
  return missing ?? wrong ?? problemOfModel(route, body);
}

/** What each field alone does not tell. */
function problemOfModel({ models }: Route, body: Body): string | undefined {
  const model = typeof body.model === 'string' ? body.model : 'recraftv4_1';
  if (!models.test(model)) return 'model';
  const isStyled = /^recraftv[23]/.test(model);
  if (String(body.prompt).length > (isStyled ? 1000 : 10_000)) return 'prompt';
  if ('style' in body && 'style_id' in body) return 'style_id';
  return isStyled ? undefined : ['style', 'substyle', 'negative_prompt'].find((name) => name in body);
}

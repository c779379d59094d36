/** Whether the vendor takes a value. Forms hold words for everything. */
type Rule = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Rule>>;

interface Route {
  readonly fields: Fields;
  readonly required: readonly string[];
  /** Where files are required. */
  readonly isForm?: boolean;
}

const text: Rule = (value) => typeof value === 'string' && value !== '';
const file: Rule = (value) => value instanceof File && /^image\/(png|jpeg|webp)$/.test(value.type);
const exactly =
  (...values: readonly string[]): Rule =>
  (value) =>
    typeof value === 'string' && values.includes(value);
const whole =
  (from: number, to: number): Rule =>
  (value) => {
    const number = typeof value === 'string' ? Number(value) : value;
    return Number.isInteger(number) && Number(number) >= from && Number(number) <= to;
  };
const sides: Rule = (value) => typeof value === 'string' && /^\d{3,4}x\d{3,4}$/.test(value);
const anything: Rule = () => true;

const prompted: Fields = {
  prompt: text,
  seed: whole(0, 2 ** 31 - 1),
  rendering_speed: exactly('FLASH', 'TURBO', 'DEFAULT', 'QUALITY'),
  magic_prompt: exactly('AUTO', 'ON', 'OFF'),
  num_images: whole(1, 8),
};
const styled: Fields = {
  style_type: exactly('AUTO', 'GENERAL', 'REALISTIC', 'DESIGN', 'FICTION'),
  style_preset: text,
  style_codes: anything,
  color_palette: anything,
};
const shaped: Fields = {
  aspect_ratio: (value) => /^(1x[123]|[23]x1|2x3|3x[24]|4x[35]|5x4|16x(9|10)|(9|10)x16)$/.test(String(value)),
  negative_prompt: text,
};
const generate: Fields = { ...prompted, ...styled, ...shaped, resolution: sides };

const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/ideogram-v3/generate': { fields: generate, required: ['prompt'] },
  '/v1/ideogram-v3/generate-transparent': { fields: { ...prompted, ...shaped }, required: ['prompt'] },
  '/v1/ideogram-v3/remix': {
    fields: { ...generate, image: file, image_weight: whole(1, 100) },
    required: ['prompt', 'image'],
    isForm: true,
  },
  '/v1/ideogram-v3/edit': {
    fields: { ...prompted, ...styled, image: file, mask: file },
    required: ['prompt', 'image', 'mask'],
    isForm: true,
  },
  '/v1/ideogram-v4/generate': {
    fields: { text_prompt: text, resolution: sides, rendering_speed: exactly('TURBO', 'DEFAULT', 'QUALITY') },
    required: ['text_prompt'],
    isForm: true,
  },
};

/** What is wrong with a body; undefined where nothing is, `route` where there is no such call. */
export function problemOf(path: string, body: object, isForm: boolean): string | undefined {
  const route = ROUTES[path];
  if (route === undefined) return 'route';
  if (route.isForm === true && !isForm) return 'content-type';
  const missing = route.required.find((name) => !(name in body));
  const wrong = Object.entries(body).find(([name, value]) => route.fields[name]?.(value) !== true)?.[0];
  return missing ?? wrong ?? ('resolution' in body && 'aspect_ratio' in body ? 'aspect_ratio' : undefined);
}

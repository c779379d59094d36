/** What is wrong with a value; undefined where nothing is. */
type Rule = (value: string | File) => string | undefined;
type Fields = Readonly<Record<string, Rule>>;

/** One of the vendor's addresses, as it reads a form. */
export interface Route {
  readonly fields: Fields;
  readonly required: readonly string[];
  readonly credits: number;
  readonly isQueued?: boolean;
  /** What no single field can say. */
  readonly whole?: (form: FormData) => string | undefined;
}

function text(from: number, to: number): Rule {
  return (value) => {
    if (typeof value !== 'string') return 'must be a string';
    return value.length >= from && value.length <= to ? undefined : `must be between ${from} and ${to} characters`;
  };
}

function within(from: number, to: number): Rule {
  return (value) => {
    const isNumber = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
    return isNumber && Number(value) >= from && Number(value) <= to ? undefined : `must be between ${from} and ${to}`;
  };
}

function among(...words: readonly string[]): Rule {
  return (value) => (typeof value === 'string' && words.includes(value) ? undefined : `must be ${words.join(', ')}`);
}

function file(...types: readonly string[]): Rule {
  return (value) => (value instanceof File && types.includes(value.type) ? undefined : 'must be a file it can read');
}

const picture = file('image/jpeg', 'image/png', 'image/webp');
const prompt = { prompt: text(1, 10_000) };
const seed = { seed: within(0, 4_294_967_294) };
const negative = { negative_prompt: text(0, 10_000) };
const format = { output_format: among('jpeg', 'png', 'webp') };
const shape = { aspect_ratio: among('21:9', '16:9', '3:2', '5:4', '1:1', '4:5', '2:3', '9:16', '9:21') };
const strength = { strength: within(0, 1) };
const style = {
  style_preset: among(
    ...['enhance', 'anime', 'photographic', 'digital-art', 'comic-book', 'fantasy-art', 'line-art', 'analog-film'],
    ...['neon-punk', 'isometric', 'low-poly', 'origami', 'modeling-compound', 'cinematic', '3d-model', 'pixel-art'],
    'tile-texture',
  ),
};
const drawn: Fields = { ...prompt, ...negative, ...seed, ...format, ...style };
const image: Fields = { image: picture };
const DIFFUSION = ['sd3.5-large', 'sd3.5-large-turbo', 'sd3.5-medium'];

/** A picture needs the strength beside it, and keeps its own shape. */
function startOf(form: FormData): string | undefined {
  if (!form.has('image')) return form.has('strength') ? 'strength: image is required' : undefined;
  if (!form.has('strength')) return 'strength: is required when image is provided';
  return form.has('aspect_ratio') ? 'aspect_ratio: is not valid for image-to-image' : undefined;
}

function modeOf(form: FormData): string | undefined {
  const mode = form.has('image') ? 'image-to-image' : 'text-to-image';
  if ((form.get('mode') ?? 'text-to-image') !== mode) return 'mode: does not match image';
  return form.get('model') === 'sd3.5-large-turbo' && form.has('negative_prompt')
    ? 'negative_prompt: does not work with this model'
    : startOf(form);
}

const pixels = within(0, 2000);

function directionsOf(form: FormData): string | undefined {
  const isGrown = ['left', 'right', 'up', 'down'].some((name) => Number(form.get(name) ?? 0) > 0);
  return isGrown ? undefined : 'at least one outpaint direction must be supplied';
}

function edit(credits: number, fields: Fields, more: Partial<Route> = {}): Route {
  return { credits, required: ['image'], fields: { ...image, ...format, ...fields }, ...more };
}

const described = { required: ['image', 'prompt'] };
const control = { control_strength: within(0, 1) };

const sound: Fields = {
  ...prompt,
  ...seed,
  steps: within(4, 100),
  cfg_scale: within(1, 25),
  output_format: among('mp3', 'wav'),
};
const recording = { audio: file('audio/mpeg', 'audio/wav') };

/** The three addresses of one generation of sounds. */
function sounds(name: string, models: readonly string[], seconds: number, more: Partial<Route>): [string, Route][] {
  const fields = { ...sound, model: among(...models), duration: within(1, seconds) };
  const masked = { mask_start: within(0, seconds), mask_end: within(0, seconds) };
  const rest = { credits: 20, ...more };
  return [
    [`audio/${name}/text-to-audio`, { fields, required: ['prompt'], ...rest }],
    [
      `audio/${name}/audio-to-audio`,
      { fields: { ...fields, ...recording, strength: within(0.01, 1) }, required: ['prompt', 'audio'], ...rest },
    ],
    [
      `audio/${name}/inpaint`,
      { fields: { ...fields, ...recording, ...masked }, required: ['prompt', 'audio'], ...rest },
    ],
  ];
}

const relit: Fields = {
  ...seed,
  ...negative,
  ...format,
  subject_image: picture,
  background_prompt: text(0, 10_000),
  light_source_direction: among('left', 'right', 'above', 'below'),
};

/** Behind `/v2beta/`. */
export const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  [
    'stable-image/generate/ultra',
    { credits: 8, required: ['prompt'], fields: { ...drawn, ...shape, ...image, ...strength }, whole: startOf },
  ],
  ['stable-image/generate/core', { credits: 3, required: ['prompt'], fields: { ...drawn, ...shape } }],
  [
    'stable-image/generate/sd3',
    {
      credits: 6.5,
      required: ['prompt'],
      fields: {
        ...drawn,
        ...shape,
        ...image,
        ...strength,
        output_format: among('jpeg', 'png'),
        model: among(...DIFFUSION),
        mode: among('text-to-image', 'image-to-image'),
        cfg_scale: within(1, 10),
      },
      whole: modeOf,
    },
  ],
  ['stable-image/edit/inpaint', edit(5, { ...drawn, mask: picture, grow_mask: within(0, 100) }, described)],
  [
    'stable-image/edit/outpaint',
    edit(
      4,
      { ...prompt, ...seed, ...style, left: pixels, right: pixels, up: pixels, down: pixels, creativity: within(0, 1) },
      { whole: directionsOf },
    ),
  ],
  ['stable-image/edit/erase', edit(5, { ...seed, mask: picture, grow_mask: within(0, 20) })],
  [
    'stable-image/edit/search-and-replace',
    edit(5, { ...drawn, search_prompt: text(1, 10_000) }, { required: ['image', 'prompt', 'search_prompt'] }),
  ],
  [
    'stable-image/edit/search-and-recolor',
    edit(5, { ...drawn, select_prompt: text(1, 10_000) }, { required: ['image', 'prompt', 'select_prompt'] }),
  ],
  ['stable-image/edit/remove-background', edit(5, { output_format: among('png', 'webp') })],
  [
    'stable-image/edit/replace-background-and-relight',
    { credits: 8, required: ['subject_image', 'background_prompt'], fields: relit, isQueued: true },
  ],
  ['stable-image/upscale/fast', edit(2, {})],
  [
    'stable-image/upscale/conservative',
    edit(40, { ...prompt, ...negative, ...seed, creativity: within(0.2, 0.5) }, described),
  ],
  [
    'stable-image/upscale/creative',
    edit(60, { ...drawn, creativity: within(0.1, 0.5) }, { ...described, isQueued: true }),
  ],
  ['stable-image/control/sketch', edit(5, { ...drawn, ...control }, described)],
  ['stable-image/control/structure', edit(5, { ...drawn, ...control }, described)],
  ['stable-image/control/style', edit(5, { ...drawn, ...shape, fidelity: within(0, 1) }, described)],
  [
    'stable-image/control/style-transfer',
    {
      credits: 8,
      required: ['init_image', 'style_image'],
      fields: { ...prompt, ...negative, ...seed, ...format, init_image: picture, style_image: picture },
    },
  ],
  ...sounds('stable-audio-2', ['stable-audio-2', 'stable-audio-2.5'], 190, {}),
  ...sounds('stable-audio', ['stable-audio-3'], 380, { credits: 26, isQueued: true }),
]);

/** In the vendor's words. */
export function problemsOf({ fields, required, whole }: Route, form: FormData): string[] {
  const missing = required.filter((name) => !form.has(name)).map((name) => `${name}: is required`);
  const wrong = [...form].flatMap(([name, value]) => {
    const problem = Object.hasOwn(fields, name) ? fields[name]?.(value) : 'is not a known field';
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
  const together = whole?.(form);
  return [...missing, ...wrong, ...(together === undefined ? [] : [together])];
}

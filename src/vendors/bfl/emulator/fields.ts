import { objectIn } from '../../emulator/json.ts';

interface Problem {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** What is wrong with a value; undefined where nothing is. */
type Rule = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, Rule>>;

const text: Rule = (value) => (typeof value === 'string' ? undefined : 'Input should be a valid string');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'Input should be a valid boolean');
const format: Rule = (value) => (value === 'jpeg' || value === 'png' ? undefined : "Input should be 'jpeg' or 'png'");
/** Between 21:9 and 9:21. */
const shape: Rule = (value) => {
  const [, across, down] = /^(\d+):(\d+)$/.exec(String(value)) ?? [];
  const ratio = Number(across) / Number(down);
  return ratio <= 21 / 9 && ratio >= 9 / 21 ? undefined : 'Aspect ratio must be between 21:9 and 9:21';
};

function within(from: number, to: number, step = 0): Rule {
  return (value) => {
    if (typeof value !== 'number' || (step > 0 && !Number.isInteger(value))) return 'Input should be a valid number';
    if (value < from || value > to) return `Input should be between ${from} and ${to}`;
    return step > 1 && value % step !== 0 ? `Input should be a multiple of ${step}` : undefined;
  };
}

/** Bare base64. A data URL is none. */
const bytes: Rule = (value) => {
  const isPicture = typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(value) && value.length % 4 === 0;
  return isPicture ? undefined : 'Invalid base64 image';
};
const bytesOrAddress: Rule = (value) => (/^https?:\/\//.test(String(value)) ? undefined : bytes(value));

const usual: Fields = { prompt: text, seed: within(0, 2 ** 32, 1), output_format: format };
const tolerance = (to: number): Fields => ({ safety_tolerance: within(0, to, 1) });
const inputImages: Fields = Object.fromEntries(
  ['', '_2', '_3', '_4', '_5', '_6', '_7', '_8'].map((end) => [`input_image${end}`, bytesOrAddress]),
);
const imagePrompt: Fields = { image_prompt: bytesOrAddress, image_prompt_strength: within(0, 1) };
const upsampling: Fields = { prompt_upsampling: flag };

const flux2: Fields = {
  ...usual,
  ...tolerance(5),
  ...inputImages,
  width: within(64, 65_536, 16),
  height: within(64, 65_536, 16),
};
const flex: Fields = { ...flux2, ...upsampling, steps: within(1, 50, 1), guidance: within(1.5, 10) };
const flux1: Fields = { ...usual, ...tolerance(6), ...upsampling };
const sides: Fields = { width: within(256, 1440, 32), height: within(256, 1440, 32) };

/** Up to ten frames, each alone or behind its second. */
const keyframes: Rule = (value) => {
  const isFrame = (each: unknown) =>
    bytesOrAddress(Array.isArray(each) && each.length === 2 && typeof each[0] === 'number' ? each[1] : each) ===
    undefined;
  const isList = Array.isArray(value) && value.length >= 1 && value.length <= 10;
  return isList && value.every(isFrame) ? undefined : 'Invalid keyframes';
};
const among =
  (...words: readonly string[]): Rule =>
  (value) =>
    typeof value === 'string' && words.includes(value) ? undefined : `Input should be ${words.join(', ')}`;

const clip: Fields = {
  ...tolerance(4),
  prompt: text,
  mode: among('t2v', 'i2v', 'v2v', 'draft_enhance'),
  duration: within(5, 20, 1),
  resolution: among('hd', 'fhd'),
  aspect_ratio: among('21:9', '2:1', '16:9', '4:3', '1:1', '3:4', '9:16', 'auto'),
  generate_audio: flag,
  keyframes,
  start_video: bytesOrAddress,
  draft: flag,
  draft_cache: text,
  version: among('latest'),
};

/** What each mode is made from. */
const OF_MODE: Readonly<Record<string, readonly string[]>> = {
  t2v: ['prompt'],
  i2v: ['keyframes'],
  v2v: ['start_video'],
  draft_enhance: ['draft_cache'],
};

interface Model {
  readonly fields: Fields;
  readonly required: readonly string[];
}

const ofWords = (fields: Fields): Model => ({ fields, required: ['prompt'] });

const MODELS: ReadonlyMap<string, Model> = new Map([
  ...['pro', 'max', 'klein-4b', 'klein-9b', 'pro-preview'].map((name) => [`flux-2-${name}`, ofWords(flux2)] as const),
  ['flux-2-flex', ofWords(flex)],
  ['flux-pro-1.1', ofWords({ ...flux1, ...imagePrompt, ...sides })],
  ['flux-pro-1.1-ultra', ofWords({ ...flux1, ...imagePrompt, aspect_ratio: shape, raw: flag })],
  ...['pro', 'max'].map(
    (name) => [`flux-kontext-${name}`, ofWords({ ...flux1, ...inputImages, aspect_ratio: shape })] as const,
  ),
  ['flux-pro-1.0-fill', { fields: { ...flux1, image: bytes, mask: bytes }, required: ['image'] }],
  ['flux-3-video', { fields: clip, required: ['mode'] }],
  ['flux-pro-1.0-expand', { fields: { ...flux1, image: bytes }, required: ['image'] }],
]);

const PIXELS_MAX = 2048 * 2048;

/** What is wrong with a submission, in the vendor's shape; undefined for a model that there is not. */
export function problemsOf(name: string, contentType: string | undefined, sent: Buffer): Problem[] | undefined {
  const model = MODELS.get(name);
  if (model === undefined) return undefined;
  const body = contentType === 'application/json' ? objectIn(sent) : undefined;
  if (body === undefined) return [problem([], 'Input should be a valid dictionary', 'model_attributes_type')];
  const required = [...model.required, ...(OF_MODE[String(body.mode)] ?? [])];
  const missing = required.filter((field) => !(field in body));
  const wrong = Object.entries(body).flatMap(([field, value]) => {
    const rule = model.fields[field];
    if (rule === undefined) return [problem([field], 'Extra inputs are not permitted', 'extra_forbidden')];
    const msg = rule(value);
    return msg === undefined ? [] : [problem([field], msg, 'value_error')];
  });
  const { width, height } = body;
  const isTooLarge = Number(width ?? 0) * Number(height ?? 0) > PIXELS_MAX;
  return [
    ...missing.map((field) => problem([field], 'Field required', 'missing')),
    ...wrong,
    ...(isTooLarge ? [problem(['width'], 'Total resolution must be at most 4MP', 'value_error')] : []),
  ];
}

function problem(field: readonly string[], msg: string, type: string): Problem {
  return { loc: ['body', ...field], msg, type };
}

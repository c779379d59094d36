import type { Metadata } from 'sharp';
import { isObject, objectIn } from '../../emulator/json.ts';
import {
  type Check,
  type IncomingCall,
  isFlag,
  isOneOf,
  isText,
  isWhole,
  isWithin,
  type Refusal,
  refusalOfEnvelope,
  refusalOfFields,
  refusalOfModel,
  type Terms,
  wrong,
} from './checks.ts';

type Json = Record<string, unknown>;

interface SentFile {
  /** Of the part. */
  readonly part: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A request as the vendor read it. Values of a form have the types of their fields. */
export interface Submission {
  readonly route: 'generations' | 'edits';
  readonly fields: Json;
  readonly files: readonly SentFile[];
}

const isCountWithin =
  (low: number, high: number): Check =>
  (value) =>
    isWhole(value) && isWithin(low, high)(value);

const SHARED: Readonly<Record<string, Check>> = {
  model: isText,
  prompt: isText,
  n: isCountWithin(1, 10),
  size: isText,
  quality: isText,
  background: isOneOf('transparent', 'opaque', 'auto'),
  output_compression: isCountWithin(0, 100),
  stream: isFlag,
  partial_images: isCountWithin(0, 3),
  complexity: isOneOf('low', 'medium', 'high'),
  frame_count: isCountWithin(2, 16),
  frame_duration_ms: isWhole,
  safety_identifier: isText,
  user: isText,
};
const FIELDS: Readonly<Record<Submission['route'], Readonly<Record<string, Check>>>> = {
  generations: {
    ...SHARED,
    output_format: isOneOf('png', 'jpeg', 'webp', 'gif', 'svg'),
    moderation: isOneOf('low', 'auto'),
    svg: isObject,
  },
  edits: { ...SHARED, output_format: isOneOf('png', 'jpeg', 'webp', 'gif'), input_fidelity: isOneOf('high', 'low') },
};

const PROMPT_CHARS_MAX = 32_000;
const IMAGES_MAX = 16;
const IMAGE_BYTES_LIMIT = 50_000_000;
const MASK_BYTES_LIMIT = 4 * 1024 * 1024;

/** The vendor's reading of a request, or its refusal. */
export async function readSubmission(
  call: IncomingCall,
  route: Submission['route'],
  terms: Terms,
): Promise<Submission | { readonly refusal: Refusal }> {
  const contentType = route === 'edits' ? 'multipart/form-data' : 'application/json';
  const outside = refusalOfEnvelope(call, terms, contentType);
  if (outside !== undefined) return { refusal: outside };
  const submission = route === 'edits' ? await readForm(call) : readJson(call);
  if (submission === undefined) return { refusal: wrong('We could not parse the body of your request.') };
  const refusal = refusalOfValues(submission, terms) ?? (await refusalOfFiles(submission));
  return refusal === undefined ? submission : { refusal };
}

function readJson({ bytes }: IncomingCall): Submission | undefined {
  const fields = objectIn(bytes);
  return fields && { route: 'generations', fields, files: [] };
}

async function readForm({ bytes, headers }: IncomingCall): Promise<Submission | undefined> {
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
  if (form === undefined) return undefined;
  const fields: Json = {};
  const files: SentFile[] = [];
  for (const [part, value] of form.entries()) {
    if (typeof value === 'string') fields[part] = parseField(part, value);
    else files.push({ part, name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return { route: 'edits', fields, files };
}

/** A form holds words for everything. */
function parseField(name: string, value: string): unknown {
  const check = FIELDS.edits[name] ?? isText;
  const other = /^(true|false|-?\d+(\.\d+)?)$/.test(value) ? JSON.parse(value) : value;
  return check(value) ? value : other;
}

function refusalOfValues({ route, fields }: Submission, terms: Terms): Refusal | undefined {
  const { model, prompt } = fields;
  if (!isText(model)) return wrong('you must provide a model parameter');
  if (!isText(prompt)) return wrong("Missing required parameter: 'prompt'.", 'prompt', 'missing_required_parameter');
  if (String(prompt).length > PROMPT_CHARS_MAX) return wrong('Too long.', 'prompt', 'string_above_max_length');
  const name = String(model);
  const refusal = refusalOfModel(name, terms) ?? refusalOfFields(fields, terms, FIELDS[route]);
  if (refusal !== undefined || terms.isLenient) return refusal;
  if (!/^(gpt-image-|chatgpt-image-)/.test(name)) return wrong(`Invalid value: '${name}'.`, 'model', 'invalid_value');
  return refusalOfLook(fields, name);
}

function refusalOfLook(fields: Json, model: string): Refusal | undefined {
  const { size = 'auto', quality = 'auto', background, output_format: format } = fields;
  const isKnown = /^gpt-image-1|^chatgpt/.test(model) ? isOneOf('1024x1024', '1536x1024', '1024x1536') : isDrawable;
  if (size !== 'auto' && !isKnown(size)) return wrong(`Invalid size '${String(size)}'.`, 'size', 'invalid_value');
  const finer = model.startsWith('gpt-image-2.') ? ['xhigh', 'max'] : [];
  if (!isOneOf('auto', 'low', 'medium', 'high', ...finer)(quality)) {
    return wrong(`Invalid value: '${String(quality)}'.`, 'quality', 'invalid_value');
  }
  if (background !== 'transparent' || format === undefined || isOneOf('png', 'webp')(format)) return undefined;
  return wrong('Transparent background is not supported for this format.', 'background', 'invalid_value');
}

/** Both sides in steps of 16, no longer than 3840, no thinner than 1:3, and neither tiny nor above 3840 × 2160. */
function isDrawable(size: unknown): boolean {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(String(size))?.map(Number) ?? [];
  if (width === undefined || height === undefined || width % 16 !== 0 || height % 16 !== 0) return false;
  const [long, short] = [Math.max(width, height), Math.min(width, height)];
  return long <= 3840 && long <= 3 * short && isWithin(655_360, 8_294_400)(width * height);
}

async function refusalOfFiles({ route, files }: Submission): Promise<Refusal | undefined> {
  if (route === 'generations') return undefined;
  const images = files.filter(({ part }) => part === 'image' || part === 'image[]');
  const masks = files.filter(({ part }) => part === 'mask');
  const other = files.find(({ part }) => !isOneOf('image', 'image[]', 'mask')(part));
  if (other !== undefined) return wrong(`Unknown parameter: '${other.part}'.`, other.part, 'unknown_parameter');
  const [first] = images;
  if (first === undefined) return wrong("Missing required parameter: 'image'.", 'image', 'missing_required_parameter');
  if (images.length > IMAGES_MAX || masks.length > 1) return wrong('Too many images.', 'image', 'invalid_value');
  if (images.length > 1 && images.some(({ part }) => part === 'image')) {
    return wrong("Duplicate parameter: 'image'. Use 'image[]'.", 'image', 'duplicate_parameter');
  }
  for (const image of images) {
    const refusal = await refusalOfImage(image);
    if (refusal !== undefined) return refusal;
  }
  return masks[0] && refusalOfMask(masks[0], first);
}

const FORMATS: Readonly<Record<string, { readonly type: string; readonly ending: RegExp }>> = {
  png: { type: 'image/png', ending: /\.png$/ },
  jpeg: { type: 'image/jpeg', ending: /\.jpe?g$/ },
  webp: { type: 'image/webp', ending: /\.webp$/ },
};

async function refusalOfImage({ part, name, type, bytes }: SentFile): Promise<Refusal | undefined> {
  if (bytes.length >= IMAGE_BYTES_LIMIT) return wrong('The image is too large.', part, 'image_too_large');
  const format = FORMATS[(await lookAt(bytes))?.format ?? ''];
  if (format === undefined) return wrong('Invalid image file or mode.', part, 'invalid_image_file');
  if (type === format.type && format.ending.test(name)) return undefined;
  return wrong(`Invalid file '${name}': unsupported mimetype ('${type}').`, part, 'unsupported_file_mimetype');
}

async function refusalOfMask(mask: SentFile, first: SentFile): Promise<Refusal | undefined> {
  const [seen, image] = [await lookAt(mask.bytes), await lookAt(first.bytes)];
  if (seen?.format !== 'png' || mask.type !== 'image/png' || mask.bytes.length >= MASK_BYTES_LIMIT) {
    return wrong('The mask must be a PNG of less than 4 MB.', 'mask', 'invalid_image_file');
  }
  if (seen.hasAlpha !== true) return wrong('The mask has no alpha channel.', 'mask', 'invalid_mask_image_format');
  if (seen.width === image?.width && seen.height === image.height) return undefined;
  return wrong('The mask size does not match the image size.', 'mask', 'invalid_image_mask_size_mismatch');
}

async function lookAt(bytes: Buffer): Promise<Metadata | undefined> {
  const { default: sharp } = await import('sharp');
  return sharp(bytes)
    .metadata()
    .catch(() => undefined);
}

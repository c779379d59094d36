import type { JsonObject } from '../../json.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { toParts } from '../kit/forms.ts';
import {
  autoOnly,
  type FieldMap,
  type ModelFamily,
  oneOf,
  shapeAmong,
  textWithin,
  type WireFields,
} from '../kit/mapping.ts';
import type { Media } from '../vendor.ts';
import { takeSeed } from './generations.ts';

type Request = ImageRequest<Media>;

/** One of the vendor's addresses for pictures. */
export interface Operation extends ModelFamily<Request> {
  /** Behind `/v2beta/stable-image`. */
  readonly path: string;
  /** It answers with a task. */
  readonly isQueued?: boolean;
  /** How many pictures it cannot do without. */
  readonly picturesMin?: number;
  /** Sent with a picture where the caller's own keys do not say otherwise. */
  readonly besidePicture?: WireFields;
  /** Throws ApiError where a key is missing that it cannot do without. */
  readonly checkKeys?: (extra: JsonObject) => void;
}

const CHARS_MAX = 10_000;
const SHAPES = ['21:9', '16:9', '3:2', '5:4', '1:1', '4:5', '2:3', '9:16', '9:21'];
const STYLES = [
  ...['enhance', 'anime', 'photographic', 'digital-art', 'comic-book', 'fantasy-art', 'line-art', 'analog-film'],
  ...['neon-punk', 'isometric', 'low-poly', 'origami', 'modeling-compound', 'cinematic', '3d-model', 'pixel-art'],
  'tile-texture',
];
const PICTURE_TYPES: readonly string[] = ['jpeg', 'png', 'webp'];
/** Of models that make a megapixel, in the shape 1:1. */
const SQUARE = '1024x1024';

const seed: FieldMap<Request> = { seed: takeSeed };
const prompt: FieldMap<Request> = { prompt: textWithin('prompt', 1, CHARS_MAX), ...seed };
const negative: FieldMap<Request> = { negativePrompt: textWithin('negative_prompt', 0, CHARS_MAX) };
const style: FieldMap<Request> = { style: oneOf('style_preset', STYLES) };
const described: FieldMap<Request> = { ...prompt, ...negative, ...style };
const mask: FieldMap<Request> = { mask: (media, field) => ({ mask: asPicture(media, field) }) };

/** Every request has a prompt; one of spaces alone asks for nothing. */
const noPrompt: FieldMap<Request> = {
  prompt: (text, field) => {
    if (text.trim() !== '') throw unsupported(field);
    return {};
  },
};

const formats = (...names: readonly string[]): FieldMap<Request> => ({ outputFormat: oneOf('output_format', names) });
const anyFormat = formats('png', 'jpeg', 'webp');

function asPicture(media: Media, field: string): Media {
  if (!PICTURE_TYPES.includes(media.mimeType.replace('image/', ''))) throw unsupported(field, { oneOf: PICTURE_TYPES });
  return media;
}

/** Pictures in the order in which they were sent, each under its name. */
function picturesAs(...names: readonly string[]): Required<Pick<FieldMap<Request>, 'referenceImages'>> {
  return {
    referenceImages: (media, field) => {
      if (media.length > names.length) throw unsupported(field, { atMost: names.length });
      return Object.fromEntries(media.map((each, at) => [names[at] ?? '', asPicture(each, field)]));
    },
  };
}

/** A picture to begin from keeps its own shape. */
function refuseShape(field: string, { referenceImages }: Request): void {
  if (referenceImages.length > 0) throw unsupported(field, { notWith: 'reference_images' });
}

const aspectRatio = shapeAmong('aspect_ratio', SHAPES);
const shape: FieldMap<Request> = { size: autoOnly, aspectRatio };
/** Of edits: the picture decides. */
const ownShape: FieldMap<Request> = { size: autoOnly, aspectRatio: shapeAmong('aspect_ratio', []) };

const shapeOrSquare: FieldMap<Request> = {
  size: (size, field, request) => {
    if (size === 'auto') return {};
    if (size !== SQUARE) throw unsupported(field, { oneOf: ['auto', SQUARE] });
    refuseShape(field, request);
    return { aspect_ratio: '1:1' };
  },
  aspectRatio: (ratio, field, request) => {
    const fields = aspectRatio(ratio, field);
    if (fields.aspect_ratio === undefined) return {};
    refuseShape(field, request);
    if (request.size === SQUARE && ratio !== '1:1') throw unsupported(field, { notWith: 'size' });
    return fields;
  },
};

/** The vendor wants to be told how far it may leave the picture: 0 keeps it, 1 forgets it. */
const besidePicture: WireFields = { strength: 0.5 };

/** An edit of one picture. */
function edit(path: string, takes: FieldMap<Request>, more: Partial<Operation> = {}): Operation {
  return { path, takes: { ...anyFormat, ...ownShape, ...picturesAs('image'), ...takes }, picturesMin: 1, ...more };
}

function needsKey(name: string): Pick<Operation, 'checkKeys'> {
  return {
    checkKeys: (extra) => {
      const text = extra[name];
      if (typeof text !== 'string' || text === '') throw unsupported(name, { atLeast: 1, unit: 'character' });
    },
  };
}

const DIRECTIONS = ['left', 'right', 'up', 'down'];

/** A picture grows in at least one direction. Numbers are read as they are sent: a caller's own may be kept as written. */
function checkDirections(extra: JsonObject): void {
  const pixels = toParts(Object.fromEntries(DIRECTIONS.map((name) => [name, extra[name]])), 'repeated');
  if (pixels.some(({ value }) => Number(value) > 0)) return;
  throw unsupported('left', { atLeast: 1, unit: 'pixel, or as much of right, up or down' });
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ultra: {
    path: 'generate/ultra',
    takes: { ...described, ...anyFormat, ...shapeOrSquare, ...picturesAs('image') },
    besidePicture,
  },
  core: { path: 'generate/core', takes: { ...described, ...anyFormat, ...shape } },
  inpaint: edit('edit/inpaint', { ...described, ...mask }),
  outpaint: edit('edit/outpaint', { ...prompt, ...style }, { checkKeys: checkDirections }),
  erase: edit('edit/erase', { ...noPrompt, ...seed, ...mask }),
  'search-and-replace': edit('edit/search-and-replace', described, needsKey('search_prompt')),
  'search-and-recolor': edit('edit/search-and-recolor', described, needsKey('select_prompt')),
  'remove-background': edit('edit/remove-background', { ...noPrompt, ...formats('png', 'webp') }),
  'replace-background-and-relight': edit(
    'edit/replace-background-and-relight',
    {
      ...seed,
      ...negative,
      ...picturesAs('subject_image'),
      prompt: textWithin('background_prompt', 1, CHARS_MAX),
    },
    { isQueued: true },
  ),
  fast: edit('upscale/fast', noPrompt),
  conservative: edit('upscale/conservative', { ...prompt, ...negative }),
  creative: edit('upscale/creative', described, { isQueued: true }),
  sketch: edit('control/sketch', described),
  structure: edit('control/structure', described),
  style: edit('control/style', { ...described, ...shape }),
  'style-transfer': edit(
    'control/style-transfer',
    { ...prompt, ...negative, ...picturesAs('init_image', 'style_image') },
    { picturesMin: 2 },
  ),
};

/** A model is one of Stable Diffusion 3 where it is no operation of its own. */
function diffusion(model: string): Operation {
  const takes: FieldMap<Request> = {
    ...prompt,
    ...style,
    ...(model.includes('turbo') ? {} : negative),
    ...formats('png', 'jpeg'),
    ...shapeOrSquare,
    referenceImages: (media, field, request) => ({
      mode: 'image-to-image',
      ...picturesAs('image').referenceImages(media, field, request),
    }),
  };
  return { path: 'generate/sd3', takes, always: { model, mode: 'text-to-image' }, besidePicture };
}

/** By the last part of its name, so `edit/inpaint` and `stable-image-core` are known as well as `inpaint` and `core`. */
export function operationOf(upstreamModel: string): Operation {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1).replace(/^stable-image-/, '');
  return (Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined) ?? diffusion(name);
}

import { ApiError } from '../errors.ts';
import { JsonError, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { atField, parseWith } from '../parse.ts';
import { quoted } from '../quoted.ts';
import { imageRequest, imageSchema, requireImage } from './image.ts';
import type { ImageRequest, MediaSource, VideoRequest } from './media-requests.ts';
import {
  type AskedTranscription,
  type TranscriptionRequest,
  toTranscription,
  toTranslation,
  transcriptionSchema,
} from './transcription.ts';
import { toVideoRequest, videoFields, videoSchema } from './video.ts';

/** A form as it was read, each list in sent order. */
export interface Form<File = MediaSource> {
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly files: readonly (readonly [name: string, source: File])[];
}

/** A form says the same as the JSON body of its route, and is held to the same schema. */
export function fromForm(endpoint: 'image_edits', form: Form): ImageRequest<MediaSource>;
export function fromForm(endpoint: 'videos', form: Form): VideoRequest<MediaSource>;
export function fromForm(endpoint: 'image_edits' | 'videos', form: Form) {
  switch (endpoint) {
    case 'image_edits':
      return imageEditOf(form);
    case 'videos':
      return videoOf(form);
  }
}

const IMAGE_EDIT: Types = {
  numbers: ['n', 'seed'],
  flags: ['watermark'],
  lists: ['reference_images', 'images'],
  objects: ['metadata'],
};

function imageEditOf({ values, files }: Form): ImageRequest<MediaSource> {
  const images = files.filter(([name]) => isImage(name));
  const masks = files.filter(([name]) => name === 'mask');
  const unexpected = files.find(([name]) => !isImage(name) && name !== 'mask');
  if (unexpected !== undefined) throw atField(new ApiError('unexpected_file'), unexpected[0]);
  // A picture may be named where a file could stand.
  const named = values.map(([name, value]) => [isImage(name) ? 'reference_images' : name, value] as const);
  const body = objectOf(named, IMAGE_EDIT);
  const parsed = parseWith(imageSchema, body);
  if (masks.length > 1) throw new ApiError('invalid_mask', { param: 'mask' });
  const request = imageRequest(parsed, body, { images: images.map(([, source]) => source), mask: masks[0]?.[1] });
  requireImage(request);
  return request;
}

function isImage(name: string): boolean {
  return name === 'image' || name === 'image[]';
}

const VIDEO: Types = {
  numbers: ['fps', 'seed'],
  flags: ['camera_fixed', 'watermark', 'generate_audio'],
  lists: ['reference_image_urls', 'reference_videos', 'reference_audios'],
  objects: ['extra'],
};

function videoOf({ values, files }: Form): VideoRequest<MediaSource> {
  const unexpected = files.find(([name]) => name !== 'input_reference');
  if (unexpected !== undefined) throw atField(new ApiError('unexpected_file'), unexpected[0]);
  const body = objectOf(values, VIDEO);
  const parsed = parseWith(files.length === 0 ? videoSchema : videoFields, body);
  if (files.length > 1) throw new ApiError('invalid_input_reference', { param: 'input_reference' });
  return toVideoRequest(parsed, body, files[0]?.[1]);
}

const TRANSCRIPTION: Types = {
  numbers: ['temperature'],
  flags: ['stream'],
  lists: ['timestamp_granularities'],
  objects: [],
};

/** The same for a clip, which is whatever its taker made of it. */
export function transcriptionFromForm(
  { values, files }: Form<unknown>,
  task: TranscriptionRequest['task'] = 'transcribe',
): AskedTranscription {
  const unexpected = files.find(([name]) => name !== 'file');
  if (unexpected !== undefined) throw atField(new ApiError('unexpected_file'), unexpected[0]);
  if (values.some(([name]) => name === 'file')) throw new ApiError('unreadable_file', { param: 'file' });
  const body = objectOf(values, TRANSCRIPTION);
  const transcription = toTranscription(parseWith(transcriptionSchema, body), body, files.length);
  return task === 'translate' ? toTranslation(transcription) : transcription;
}

/** Which fields of a body are not text. */
interface Types {
  readonly numbers: readonly string[];
  readonly flags: readonly string[];
  readonly lists: readonly string[];
  readonly objects: readonly string[];
}

/** The JSON object that the values stand for. What cannot be read as its type stays text, for the schema to refuse. */
function objectOf(values: Form['values'], types: Types): JsonObject {
  const root: Branch = new Map();
  for (const [name, value] of values) {
    const path = pathOf(name);
    place(root, path.length === 1 && types.lists.includes(name) ? [name, ''] : path, value);
  }
  return Object.fromEntries([...root].map(([name, node]) => [name, coerce(name, node, types)]));
}

type Node = string | Node[] | Branch;
// A map has no names of its own, so a part may be called whatever it likes.
interface Branch extends Map<string, Node> {}

const PATH_KEYS_MAX = 8;

/** `a`, `a[]` and `a[b]`, as client libraries write lists and objects; any other name stands for itself. */
function pathOf(name: string): readonly string[] {
  const [, head = name, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const keys = [...brackets.matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key);
  if (keys.length > PATH_KEYS_MAX || keys.slice(0, -1).includes('')) return [name];
  // A common client library writes the URL of a picture so.
  return head === 'input_reference' && brackets === '[image_url]' ? [head, 'url'] : [head, ...keys];
}

function place(branch: Branch, [key = '', ...rest]: readonly string[], value: string): void {
  const found = branch.get(key);
  if (rest.length === 0) {
    if (found !== undefined && found !== value) throw repeated(key);
    branch.set(key, value);
  } else if (rest[0] === '') {
    if (found !== undefined && !Array.isArray(found)) throw repeated(key);
    branch.set(key, [...(found ?? []), value]);
  } else {
    if (found !== undefined && !(found instanceof Map)) throw repeated(key);
    const inner: Branch = found ?? new Map();
    branch.set(key, inner);
    place(inner, rest, value);
  }
}

function repeated(name: string): unknown {
  const message = `${quoted(name)} is given twice and differs.`;
  return atField(new ApiError('conflicting_parameters', { message }), name);
}

function coerce(name: string, node: Node, { numbers, flags, objects }: Types): JsonValue {
  if (typeof node !== 'string') return jsonOf(node);
  if (numbers.includes(name) && /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(node)) return Number(node);
  if (flags.includes(name) && /^(true|false)$/i.test(node)) return node.toLowerCase() === 'true';
  return objects.includes(name) ? parsedObject(node) : node;
}

function jsonOf(node: Node): JsonValue {
  if (typeof node === 'string') return node;
  return Array.isArray(node)
    ? node.map(jsonOf)
    : Object.fromEntries([...node].map(([key, inner]) => [key, jsonOf(inner)]));
}

function parsedObject(text: string): JsonValue {
  try {
    return parseJson(text).exact() as JsonValue;
  } catch (error) {
    if (error instanceof JsonError) return text;
    throw error;
  }
}

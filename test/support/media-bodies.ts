import assert from 'node:assert/strict';
import { ApiError } from '../../src/errors.ts';
import { type JsonObject, parseJson } from '../../src/json.ts';
import { parseWith } from '../../src/parse.ts';
import {
  imageSchemas,
  soundSchema,
  toImageRequest,
  toSoundRequest,
  toVideoRequest,
  videoSchema,
} from '../../src/schemas/index.ts';

/** A body as its author writes it: an object, or the very text. */
type Body = string | object;

export function imageOf(body: Body, endpoint: 'images' | 'image_edits' = 'images') {
  const { value, exact } = sent(body);
  return toImageRequest(parseWith(imageSchemas[endpoint], value), exact, endpoint);
}

export function videoOf(body: Body) {
  const { value, exact } = sent(body);
  return toVideoRequest(parseWith(videoSchema, value), exact);
}

export function soundOf(body: Body) {
  const { value, exact } = sent(body);
  return toSoundRequest(parseWith(soundSchema, value), exact);
}

function sent(body: Body) {
  const parsed = parseJson(typeof body === 'string' ? body : JSON.stringify(body));
  return { value: parsed.value, exact: parsed.exact() as JsonObject };
}

/** The code that a request is refused with, or `taken`. */
export function outcomeOf(run: () => unknown): string {
  return refusalOf(run)?.code ?? 'taken';
}

export function refusalOf(run: () => unknown): ApiError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
}

/** The beginning of each kind of file, enough to be told apart. */
export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
export const JPEG = Buffer.from('ffd8ffe000104a464946000101', 'hex');
export const WEBP = Buffer.from('524946460000000057454250565038', 'hex');

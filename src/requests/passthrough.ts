import { ApiError } from '../errors.ts';
import { isWrittenNumber, type JsonObject, type JsonValue } from '../json.ts';
import { PASSTHROUGH_BYTES_MAX, PASSTHROUGH_DEPTH_MAX } from '../limits.ts';
import { readDataUrl } from './references.ts';

// The shortest member of an object, its comma included, is `"":0,`; so no block of more members can be small enough.
const MEMBERS_MAX = PASSTHROUGH_BYTES_MAX / 5;

/** The members that a schema does not know, as they were sent. Safe with any name, `__proto__` included. */
export function unmodelled(exact: JsonObject, shape: object): JsonObject {
  const names = Object.keys(exact).filter((name) => !Object.hasOwn(shape, name));
  if (names.length > MEMBERS_MAX) throw tooMuch();
  return Object.fromEntries(names.map((name) => [name, exact[name] ?? null]));
}

/**
 * What a vendor gets as it was sent, held to its bounds. Throws `invalid_parameter` for too much or too deep, and
 * `url_in_extra` for what looks like a URL and is none that may be visited.
 */
export function passthrough(extra: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(extra)) > PASSTHROUGH_BYTES_MAX) throw tooMuch();
  if (depthOf(extra) > PASSTHROUGH_DEPTH_MAX) {
    throw new ApiError('invalid_parameter', {
      message: `The fields passed on to the model are nested deeper than ${PASSTHROUGH_DEPTH_MAX} levels.`,
    });
  }
  for (const text of lookingLikeUrls(extra)) if (!isRealUrl(text)) throw new ApiError('url_in_extra');
  return extra;
}

function tooMuch(): ApiError {
  const message = `The fields passed on to the model are more than ${PASSTHROUGH_BYTES_MAX / 1024} KiB.`;
  return new ApiError('invalid_parameter', { message });
}

/** The addresses inside, in canonical form: an upstream may visit them, so they have to be allowed before it is asked. */
export function urlsIn(extra: JsonObject): string[] {
  const urls = lookingLikeUrls(extra).map((text) => URL.parse(text));
  return urls.flatMap((url) => (isHttp(url) ? [url.href] : []));
}

// Upstreams read URLs as leniently as browsers do: with space in front, one slash or backslashes behind http, and
// breaks anywhere.
const LOOKS_LIKE_URL = /^[\0-\x20]*(?:[a-z][a-z0-9+.-]*:\/\/|\/\/|https?:[/\\]|data:)/i;
const BREAKS = /[\t\n\r]/g;

function lookingLikeUrls(value: JsonValue): string[] {
  if (typeof value === 'string') return LOOKS_LIKE_URL.test(value.replace(BREAKS, '')) ? [value] : [];
  return partsOf(value).flatMap(lookingLikeUrls);
}

function isRealUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'data:' ? readDataUrl(text.trim()) !== undefined : isHttp(url);
}

function isHttp(url: URL | null): url is URL {
  return url?.protocol === 'http:' || url?.protocol === 'https:';
}

/** An object or list is one level deeper than the deepest thing in it. */
function depthOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null || isWrittenNumber(value)) return 0;
  return 1 + Math.max(0, ...partsOf(value).map(depthOf));
}

function partsOf(value: JsonValue): readonly JsonValue[] {
  return typeof value !== 'object' || value === null || isWrittenNumber(value) ? [] : Object.values(value);
}

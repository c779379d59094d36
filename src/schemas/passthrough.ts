import { domainToUnicode } from 'node:url';
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
 * What a vendor gets as it was sent, held to its bounds. Throws `invalid_parameter` for too much or too deep,
 * `url_in_extra` for what looks like a URL and is none that may be visited, and `invalid_media_url` for one that readers
 * of URLs take for different ones: the host that is judged here might not be the one that is visited.
 */
export function passthrough(extra: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(extra)) > PASSTHROUGH_BYTES_MAX) throw tooMuch();
  if (depthOf(extra) > PASSTHROUGH_DEPTH_MAX) {
    throw new ApiError('invalid_parameter', {
      message: `The fields passed on to the model are nested deeper than ${PASSTHROUGH_DEPTH_MAX} levels.`,
    });
  }
  for (const text of lookingLikeUrls(extra)) {
    if (!isRealUrl(text)) throw new ApiError('url_in_extra');
    if (!hasOneHost(text)) throw new ApiError('invalid_media_url', { message: TWO_HOSTS });
  }
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

// Some read URLs as leniently as browsers do: with space in front, any number of slashes or backslashes behind http, and
// breaks anywhere.
const LOOKS_LIKE_URL = /^[\0-\x20]*(?:[a-z][a-z0-9+.-]*:\/\/|\/\/|https?:[/\\]|data:)/i;
/** Words may follow `http:` as well, so this is one only if it can be read as one. */
const MAY_BE_URL = /^[\0-\x20]*https?:/i;
const BREAKS = /[\t\n\r]/g;

function lookingLikeUrls(value: JsonValue): string[] {
  if (typeof value === 'string') return looksLikeUrl(value) ? [value] : [];
  return partsOf(value).flatMap(lookingLikeUrls);
}

function looksLikeUrl(text: string): boolean {
  const unbroken = text.replace(BREAKS, '');
  return LOOKS_LIKE_URL.test(unbroken) || (MAY_BE_URL.test(unbroken) && URL.canParse(text));
}

const TWO_HOSTS = 'A URL in the fields passed on to the model can be read as naming different hosts.';
/** Scheme and authority by RFC 3986, the latter without user information. */
const AUTHORITY = /^https?:\/\/(\[[0-9a-f:.]+\]|[^/?#\\@:[\]\s]+)(?::\d*)?(?:[/?#]|$)/i;

/**
 * Whether RFC 3986 and the URL standard of browsers read the same host out of it. User information, backslashes, missing
 * slashes, breaks, escapes, numbers for an address and letters that count as others are where they differ.
 */
function hasOneHost(text: string): boolean {
  const url = URL.parse(text);
  if (!isHttp(url)) return true;
  const [, host] = AUTHORITY.exec(text.trim()) ?? [];
  if (host === undefined) return false;
  if (host.startsWith('[')) return true;
  const name = host.toLowerCase().normalize('NFC');
  return name === url.hostname || name === domainToUnicode(url.hostname);
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

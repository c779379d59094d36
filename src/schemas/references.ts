import { z } from 'zod';
import { ApiError, type ErrorCode } from '../errors.ts';
import { IMAGE_BYTES_MAX, REFERENCES_MAX, URL_CHARS_MAX } from '../limits.ts';
import { inField, optional } from '../parse.ts';
import type { MediaSource } from './media-requests.ts';

/** A picture as the wire names it: a text, or an object with either of these. */
export type Reference = string | { readonly url?: string | undefined; readonly b64?: string | undefined };

export function referenceField(error: ErrorCode) {
  const text = optional(z.string());
  return z.union([z.string(), z.object({ url: text, b64: text, mime_type: text, filename: text })], { error });
}

/** A bounded list; an empty one counts as left out. */
export function listField<Item extends z.ZodType>(item: Item, error: ErrorCode) {
  const list = z.array(item, { error }).max(REFERENCES_MAX, { error: `expected at most ${REFERENCES_MAX} entries` });
  return optional(list.transform((items) => (items.length === 0 ? undefined : items)));
}

/** How a place for pictures words its refusals. */
interface Slot {
  /** The object has neither or both of its forms. */
  readonly shape: ErrorCode;
  /** A text that is no URL. */
  readonly text: ErrorCode;
  readonly base64: ErrorCode;
  readonly empty: ErrorCode;
  /** Bare base64 may stand for the picture. */
  readonly takesBase64: boolean;
}

export const IMAGE_SLOT: Slot = {
  shape: 'invalid_input_reference',
  text: 'invalid_media_url',
  base64: 'unreadable_image',
  empty: 'empty_image',
  takesBase64: false,
};

export const MASK_SLOT: Slot = {
  shape: 'invalid_mask',
  text: 'invalid_mask',
  base64: 'invalid_mask',
  empty: 'empty_mask',
  takesBase64: false,
};

export const VIDEO_SLOT: Slot = {
  shape: 'invalid_input_reference',
  text: 'invalid_input_reference',
  base64: 'invalid_input_reference',
  empty: 'invalid_input_reference',
  takesBase64: true,
};

/** The pictures of a list, each refused under its place in it. */
export function picturesOf(field: string, reference: readonly Reference[] | undefined, slot: Slot): MediaSource[] {
  return (reference ?? []).map((each, place) => inField(`${field}[${place}]`, () => pictureOf(each, slot)));
}

/** The one picture of a field, if it has one. */
export function pictureIn(field: string, reference: Reference | undefined, slot: Slot): MediaSource | undefined {
  return reference === undefined ? undefined : inField(field, () => pictureOf(reference, slot));
}

/** Where a picture comes from. Nothing is fetched, and what the bytes are is not looked at yet. */
function pictureOf(reference: Reference, slot: Slot): MediaSource {
  if (typeof reference === 'string') return fromText(reference, slot, slot.takesBase64);
  const { url, b64 } = reference;
  if (url !== undefined && b64 === undefined) return fromText(url, slot, false);
  if (b64 === undefined || url !== undefined) throw new ApiError(slot.shape);
  const bytes = decodeBase64(b64);
  if (bytes === undefined) throw new ApiError(slot.base64);
  return inline(bytes, slot);
}

function fromText(reference: string, slot: Slot, takesBase64: boolean): MediaSource {
  const text = reference.trim();
  if (text === '') throw new ApiError(slot.empty);
  const url = readUrl(text);
  if (url !== undefined) return 'url' in url ? { from: 'url', url: url.url } : inline(url.bytes, slot);
  const bytes = takesBase64 ? decodeBase64(text) : undefined;
  if (bytes === undefined || !isPicture(bytes)) throw new ApiError(slot.text);
  return inline(bytes, slot);
}

function inline(bytes: Buffer, slot: Slot): MediaSource {
  if (bytes.length === 0) throw new ApiError(slot.empty);
  if (bytes.length > IMAGE_BYTES_MAX) throw new ApiError('image_too_large');
  return { from: 'bytes', bytes };
}

// PNG, JPEG or WebP. Only to tell a picture in base64 from a mistyped URL; what it really is, is found out later.
function isPicture(bytes: Buffer): boolean {
  return /^(89504e470d0a1a0a|ffd8ff|52494646.{8}57454250)/.test(bytes.toString('hex', 0, 12));
}

/** A clip. Where it may not be inline, it is because larger media is uploaded first and never comes inside a body. */
export function clipOf(reference: string, { mayBeInline }: { mayBeInline: boolean }): MediaSource {
  const url = readUrl(reference.trim());
  if (url === undefined) throw new ApiError('invalid_media_url');
  if ('url' in url) return { from: 'url', url: url.url };
  if (!mayBeInline) throw new ApiError('unsupported_media_url_scheme');
  if (url.bytes.length === 0) throw new ApiError('invalid_media_url');
  return { from: 'bytes', bytes: url.bytes };
}

const SCHEME = /^([a-z][a-z0-9+.-]{0,30}):/i;

/**
 * A URL in its canonical form, or the content of a data URL; undefined for a text without a scheme. Whether an address
 * may be visited is decided by the fetch guard. Throws for other schemes and for what cannot be parsed.
 */
export function readUrl(text: string): { readonly url: string } | DataUrl | undefined {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return undefined;
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'data') throw new ApiError('unsupported_media_url_scheme');
  const read = scheme === 'data' ? readDataUrl(text) : httpUrl(text);
  if (read === undefined) throw new ApiError('invalid_media_url');
  return read;
}

function httpUrl(text: string): { readonly url: string } | undefined {
  const url = text.length > URL_CHARS_MAX ? null : URL.parse(text);
  return url === null ? undefined : { url: url.href };
}

export interface DataUrl {
  readonly bytes: Buffer;
  /** As declared, in small letters and without parameters. */
  readonly mimeType: string;
}

/** As browsers read it. Undefined when it has no comma, or base64 that is none. */
export function readDataUrl(text: string): DataUrl | undefined {
  const hash = text.indexOf('#');
  const whole = hash === -1 ? text : text.slice(0, hash);
  const comma = whole.indexOf(',');
  if (comma === -1) return undefined;
  const type = whole.slice('data:'.length, comma);
  const content = whole.slice(comma + 1);
  const isBase64 = /; *base64 *$/i.test(type);
  const bytes = isBase64 ? decodeBase64(unescaped(content)) : percentDecoded(content);
  const [mimeType = ''] = type.split(';', 1);
  return bytes === undefined ? undefined : { bytes, mimeType: mimeType.trim().toLowerCase() };
}

/** Also without padding, with white space, and in the alphabet of URLs. Undefined when it is not base64. */
export function decodeBase64(text: string): Buffer | undefined {
  return decodeExactly(text) ?? (/\s/.test(text) ? decodeExactly(text.replace(/\s+/g, '')) : undefined);
}

/** The decoder passes over what it does not know, so a result of full length is the proof that it knew everything. */
function decodeExactly(text: string): Buffer | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const chars = text.length - padding;
  if (chars % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === Math.floor((chars * 3) / 4) ? bytes : undefined;
}

function unescaped(text: string): string {
  return text.includes('%') ? percentDecoded(text).toString('latin1') : text;
}

function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === PERCENT ? 16 * digit(bytes[at + 1]) + digit(bytes[at + 2]) : Number.NaN;
    bytes[length++] = Number.isNaN(escaped) ? (bytes[at] ?? 0) : escaped;
    if (!Number.isNaN(escaped)) at += 2;
  }
  return bytes.subarray(0, length);
}

const PERCENT = 0x25;

/** The value of a hexadecimal digit; NaN for anything else. */
function digit(char = 0): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  const small = char | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : Number.NaN;
}

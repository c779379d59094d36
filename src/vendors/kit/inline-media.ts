import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { INLINE_MEDIA_BYTES_MAX, UPSTREAM_PIECE_BYTES } from '../../limits.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import type { WireFields, WireMedia } from './mapping.ts';
import type { CallBody } from './wire.ts';

/**
 * An input as JSON, with media anywhere in it as data URLs or bare base64, or by their addresses where they are large and
 * have one. Media are read when their turn comes, piece by piece.
 */
export function jsonWithMedia(
  input: Readonly<Record<string, WireMedia>>,
  form: 'data URL' | 'base64' = 'data URL',
): CallBody {
  // Stands where the bytes of a medium will be; no caller can have written it.
  const gap = randomUUID();
  const inline: Media[] = [];
  const text = JSON.stringify(input, (_key, value: unknown) => {
    if (!isMedia(value)) return value;
    if (value.url !== undefined && value.bytes > INLINE_MEDIA_BYTES_MAX) return value.url;
    inline.push(value);
    return form === 'base64' ? gap : `data:${value.mimeType};base64,${gap}`;
  });
  if (inline.length === 0) return { type: 'application/json', content: text };
  const texts = text.split(gap).map((piece) => Buffer.from(piece));
  const encoded = inline.reduce((sum, { bytes }) => sum + Math.ceil(bytes / 3) * 4, 0);
  const bytes = texts.reduce((sum, piece) => sum + piece.length, encoded);
  return { type: 'application/json', content: { bytes, pieces: pieces(texts, inline) } };
}

/** Of media that the vendor fetches by itself. Throws ApiError for those without; what has no bytes has not been looked at yet. */
export function publicUrl({ url, bytes }: Media, field: string): string {
  if (url === undefined && bytes > 0) throw unsupported(field, { oneOf: ['public addresses'] });
  return url ?? '';
}

/** So that it goes as bytes, however large it is. */
export function withoutAddress(media: Media): Media {
  const { mimeType, bytes } = media;
  return { mimeType, bytes, url: undefined, read: () => media.read(), pieces: () => media.pieces() };
}

/** The input with something else for each medium in it, one after the other, so that no more than one is on its way. */
export async function mapMedia(
  input: WireFields,
  place: (media: Media) => Promise<WireMedia>,
): Promise<Record<string, WireMedia>> {
  const placed: Record<string, WireMedia> = {};
  for (const [name, value] of Object.entries(input)) {
    if (isMedia(value)) placed[name] = await place(value);
    else placed[name] = isMediaList(value) ? await Array.fromAsync(value, place) : value;
  }
  return placed;
}

export function isMediaList(value: WireFields[string]): value is readonly Media[] {
  return Array.isArray(value) && value.length > 0 && value.every(isMedia);
}

export function isMedia(value: unknown): value is Media {
  return typeof value === 'object' && value !== null && 'read' in value && typeof value.read === 'function';
}

async function* pieces(texts: readonly Buffer[], inline: readonly Media[]): AsyncGenerator<Buffer> {
  for (const [at, text] of texts.entries()) {
    yield text;
    const media = inline[at];
    if (media !== undefined) yield* encodedOf(media);
  }
}

/** Three bytes are four characters, so each piece but the last is cut at three. */
const BYTES_PER_PIECE = (UPSTREAM_PIECE_BYTES / 4) * 3;

async function* encodedOf(media: Media): AsyncGenerator<Buffer> {
  let bytes = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of media.pieces()) {
    bytes += piece.length;
    const whole: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = whole.length - (whole.length % 3);
    for (let at = 0; at < end; at += BYTES_PER_PIECE) {
      yield Buffer.from(whole.toString('base64', at, Math.min(at + BYTES_PER_PIECE, end)), 'latin1');
    }
    rest = whole.subarray(end);
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
  // The length of the whole has been promised already.
  assert.equal(bytes, media.bytes, 'a medium has another length than it was said to have');
}

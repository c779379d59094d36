import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../../json.ts';
import { INLINE_MEDIA_BYTES_MAX, UPSTREAM_PIECE_BYTES } from '../../limits.ts';
import type { Media } from '../vendor.ts';
import type { StreamedBody } from './exchange.ts';
import type { Fields } from './mapping.ts';

/** An input as JSON. Media are read when their turn comes, so that one or two are in memory at a time. */
export function toBody(input: Fields): string | StreamedBody {
  // Stands where the bytes of a medium will be; nobody can have written it.
  const gap = randomUUID();
  const inline: Media[] = [];
  const toUrl = (media: Media) => {
    if (media.url !== undefined && media.bytes > INLINE_MEDIA_BYTES_MAX) return media.url;
    inline.push(media);
    return `data:${media.mimeType};base64,${gap}`;
  };
  const wire = Object.entries(input).map(([name, value]) => [name, toJson(value, toUrl)] as const);
  const text = JSON.stringify(Object.fromEntries(wire));
  if (inline.length === 0) return text;
  const texts = text.split(gap).map((piece) => Buffer.from(piece));
  const encoded = inline.reduce((sum, { bytes }) => sum + Math.ceil(bytes / 3) * 4, 0);
  const bytes = texts.reduce((sum, piece) => sum + piece.length, encoded);
  return { bytes, pieces: pieces(texts, inline) };
}

function toJson(value: Fields[string], toUrl: (media: Media) => string): JsonValue {
  if (isMedia(value)) return toUrl(value);
  return areMedia(value) ? value.map(toUrl) : value;
}

function isMedia(value: Fields[string]): value is Media {
  return typeof value === 'object' && value !== null && 'read' in value && typeof value.read === 'function';
}

function areMedia(value: Fields[string]): value is readonly Media[] {
  return Array.isArray(value) && value.length > 0 && value.every(isMedia);
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
  const bytes = await media.read();
  // The length of the whole has been promised already.
  assert.equal(bytes.length, media.bytes, 'a medium has another length than it was said to have');
  for (let at = 0; at < bytes.length; at += BYTES_PER_PIECE) {
    yield Buffer.from(bytes.toString('base64', at, at + BYTES_PER_PIECE), 'latin1');
  }
}

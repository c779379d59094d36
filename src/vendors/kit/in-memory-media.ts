import { UPSTREAM_PIECE_BYTES } from '../../limits.ts';
import type { Media } from '../vendor.ts';

/** What is in memory already. */
export function inMemoryMedia(bytes: Buffer, mimeType: string, url?: string): Media {
  return { mimeType, bytes: bytes.length, url, read: async () => bytes, pieces: () => inPieces(bytes) };
}

async function* inPieces(bytes: Buffer): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += UPSTREAM_PIECE_BYTES) yield bytes.subarray(at, at + UPSTREAM_PIECE_BYTES);
}

import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import { Base64Decoder, BlobSplitter } from './blobs.ts';
import type { UpstreamReply } from './exchange.ts';
import { parseObject } from './http.ts';

/** A blob that is still arriving. */
export interface BlobStream {
  /** For one reader, which closes the connection when it stops. */
  readonly pieces: AsyncIterable<Buffer>;
  /** Closes the connection without reading. */
  close(): Promise<void>;
}

/**
 * The first base64 string under a key of a JSON object, decoded while it is read and never held whole: the text before it
 * is bounded, the blob by its reader alone. Where there is none, the object. Throws UpstreamError, as `pieces` does where the
 * answer ends inside the blob.
 */
export async function openBlob({ body }: UpstreamReply, key: string): Promise<BlobStream | { json: JsonObject }> {
  const source = body[Symbol.asyncIterator]();
  const close = async () => void (await source.return?.());
  let decoder: Base64Decoder | undefined;
  const splitter = new BlobSplitter(key, {
    '"': () => {
      decoder ??= new Base64Decoder();
      return decoder;
    },
  });
  while (decoder === undefined) {
    const { value, done } = await source.next();
    if (done === true) return { json: whole(splitter) };
    splitter.push(value);
    if (splitter.textChars > UPSTREAM_RESPONSE_BYTES_MAX) {
      await close();
      throw new UpstreamError('garbled', 'the answer is too large');
    }
  }
  return { pieces: decoded(source, splitter, decoder), close };
}

function whole(splitter: BlobSplitter): JsonObject {
  const json = parseObject(splitter.text());
  if (json === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
  return json;
}

/** To the end of the first blob; what stands behind it is not read. */
async function* decoded(
  source: AsyncIterator<Buffer>,
  splitter: BlobSplitter,
  decoder: Base64Decoder,
): AsyncGenerator<Buffer> {
  try {
    while (splitter.blobs.length === 0) {
      const piece = decoder.take();
      if (piece.length > 0) yield piece;
      const { value, done } = await source.next();
      if (done === true) throw new UpstreamError('garbled', 'the answer ended inside a result');
      splitter.push(value);
    }
    yield splitter.blobs[0] ?? Buffer.alloc(0);
  } finally {
    await source.return?.();
  }
}

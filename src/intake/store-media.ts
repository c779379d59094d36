import { measure, readableOf, type Sniffed, SNIFF_BYTES, sniff } from '../media/index.ts';
import type { IntakeParts } from './parts.ts';

/** A picture or clip in the object store, and what its bytes say about it. */
export interface StoredPiece {
  readonly key: string;
  readonly mimeType: string;
  readonly bytes: number;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly seconds: number | undefined;
}

export interface StoreRules {
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
  /** Judges what the first bytes say, before the rest is taken. Throws what is to be thrown. `head` is empty for nothing. */
  accept(sniffed: Sniffed | undefined, head: Buffer): Sniffed;
}

/**
 * Takes media into the object store: judged by its first bytes, streamed without being held, measured afterwards. Throws
 * what `accept` throws, ObjectTooLarge, Unreadable, StorageUnavailable, or whatever the body does; then the object may or
 * may not be there.
 */
export async function storeMedia(
  parts: Pick<IntakeParts, 'objects'>,
  key: string,
  body: Buffer | AsyncIterable<Buffer>,
  rules: StoreRules,
): Promise<StoredPiece> {
  return Buffer.isBuffer(body) ? storeBytes(parts, key, body, rules) : storeStream(parts, key, body, rules);
}

type Objects = Pick<IntakeParts, 'objects'>;

async function storeBytes({ objects }: Objects, key: string, data: Buffer, rules: StoreRules): Promise<StoredPiece> {
  const head = data.subarray(0, SNIFF_BYTES);
  const sniffed = rules.accept(sniff(head), head);
  const measured = await measure(readableOf(data), sniffed);
  const { bytes } = await objects.put(key, data, { mimeType: sniffed.mimeType, bytesMax: rules.bytesMax });
  return piece(key, sniffed, bytes, measured);
}

async function storeStream(
  { objects }: Objects,
  key: string,
  body: AsyncIterable<Buffer>,
  rules: StoreRules,
): Promise<StoredPiece> {
  const { head, whole } = await peeked(body);
  const sniffed = rules.accept(sniff(head), head);
  const { bytesMax, signal } = rules;
  const options = { mimeType: sniffed.mimeType, bytesMax, ...(signal === undefined ? {} : { signal }) };
  const { bytes } = await objects.put(key, whole, options);
  const stored = { bytes, read: (start: number, end: number) => readRange(objects, key, start, end) };
  return piece(key, sniffed, bytes, await measure(stored, sniffed));
}

function piece(
  key: string,
  { mimeType }: Sniffed,
  bytes: number,
  { width, height, seconds }: Awaited<ReturnType<typeof measure>>,
): StoredPiece {
  return { key, mimeType, bytes, width, height, seconds };
}

async function readRange(objects: Objects['objects'], key: string, start: number, end: number): Promise<Buffer> {
  if (end <= start) return Buffer.alloc(0);
  const found = await objects.read(key, { start, end: end - 1 });
  if (found === undefined) throw new Error(`the stored object ${key} is gone`);
  return Buffer.concat(await Array.fromAsync(found.body));
}

/** The first bytes, and all of it including them. */
async function peeked(body: AsyncIterable<Buffer>): Promise<{ head: Buffer; whole: AsyncIterable<Buffer> }> {
  const rest = body[Symbol.asyncIterator]();
  const pieces: Buffer[] = [];
  let bytes = 0;
  while (bytes < SNIFF_BYTES) {
    const { value, done } = await rest.next();
    if (done === true) break;
    pieces.push(value);
    bytes += value.length;
  }
  const head = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  return { head: head.subarray(0, SNIFF_BYTES), whole: resumed(head, rest) };
}

async function* resumed(head: Buffer, rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

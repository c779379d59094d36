import { SNIFF_BYTES } from '../limits.ts';
import {
  asMeasured,
  byteSourceOf,
  type Measured,
  type MediaKind,
  measure,
  type Sniffed,
  sniff,
} from '../media/index.ts';
import { joined, replayThenRest } from './buffer-up-to.ts';
import type { ObjectDeps } from './deps.ts';

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
  readonly signal: AbortSignal;
  /** What it may be. */
  readonly kinds: readonly MediaKind[];
  /** Its length is charged for, so it must not be the file's own word. */
  readonly mustBeCounted?: boolean;
  /** What is thrown for nothing at all, and for something else. */
  readonly refusal: (reason: 'empty' | 'other kind', sniffed: Sniffed | undefined) => Error;
}

/**
 * Takes media into the object store: judged by its first bytes, streamed without being held, measured afterwards. Throws
 * a refusal, ObjectTooLarge, Unreadable, StorageUnavailable, or whatever the body does; then the object may or may not be
 * there.
 */
export async function storeMedia(
  deps: Pick<ObjectDeps, 'objects'>,
  key: string,
  body: Buffer | AsyncIterable<Buffer>,
  rules: StoreRules,
): Promise<StoredPiece> {
  return Buffer.isBuffer(body) ? storeBytes(deps, key, body, rules) : storeStream(deps, key, body, rules);
}

type Objects = Pick<ObjectDeps, 'objects'>;

async function storeBytes({ objects }: Objects, key: string, data: Buffer, rules: StoreRules): Promise<StoredPiece> {
  const { mimeType, ...measured } = await judgeMedia(data, rules);
  const { bytes } = await objects.put(key, data, { mimeType, bytesMax: rules.bytesMax });
  return piece(key, mimeType, bytes, measured);
}

/** What storeMedia would say of it, without storing it. */
export async function judgeMedia(data: Buffer, rules: StoreRules): Promise<Measured & { readonly mimeType: string }> {
  const sniffed = sniffOrRefuse(data.subarray(0, SNIFF_BYTES), rules);
  const measured = await measure(byteSourceOf(data), sniffed);
  const { mimeType } = judgedAgain(sniffed, measured, rules);
  return { ...measured, mimeType };
}

async function storeStream(
  { objects }: Objects,
  key: string,
  body: AsyncIterable<Buffer>,
  rules: StoreRules,
): Promise<StoredPiece> {
  const { head, whole } = await peeked(body);
  const sniffed = sniffOrRefuse(head, rules);
  const { bytesMax, signal } = rules;
  const { bytes } = await objects.put(key, whole, { mimeType: sniffed.mimeType, bytesMax, signal });
  const stored = { bytes, read: (start: number, end: number) => readRange(objects, key, start, end) };
  const measured = await measure(stored, sniffed);
  return piece(key, judgedAgain(sniffed, measured, rules).mimeType, bytes, measured);
}

/** Sound alone often comes in a container that pictures could be in as well; the first bytes do not tell. */
function sniffOrRefuse(head: Buffer, { kinds, refusal }: StoreRules): Sniffed {
  if (head.length === 0) throw refusal('empty', undefined);
  const sniffed = sniff(head);
  const isPossible = sniffed !== undefined && (kinds.includes(sniffed.kind) || sniffed.kind === 'video');
  if (!isPossible) throw refusal('other kind', sniffed);
  return sniffed;
}

function judgedAgain(sniffed: Sniffed, measured: Measured, rules: StoreRules): Sniffed {
  const { kinds, mustBeCounted = false, refusal } = rules;
  const found = asMeasured(sniffed, measured);
  const isUnsure = mustBeCounted && measured.isStated === true;
  if (!kinds.includes(found.kind) || isUnsure) throw refusal('other kind', found);
  return found;
}

function piece(key: string, mimeType: string, bytes: number, { width, height, seconds }: Measured): StoredPiece {
  return { key, mimeType, bytes, width, height, seconds };
}

async function readRange(objects: Objects['objects'], key: string, start: number, end: number): Promise<Buffer> {
  if (end <= start) return Buffer.alloc(0);
  const found = await objects.read(key, { start, end: end - 1 });
  if (found === undefined) throw new Error(`the stored object ${key} is gone`);
  return joined(await Array.fromAsync(found.body));
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
  const head = joined(pieces);
  return { head: head.subarray(0, SNIFF_BYTES), whole: replayThenRest(pieces, rest) };
}

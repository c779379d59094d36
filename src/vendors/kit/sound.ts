import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { SNIFF_BYTES } from '../../limits.ts';
import { sniff } from '../../media/index.ts';
import type { UpstreamReply } from './exchange.ts';
import { parseObject } from './http.ts';
import { Peeked } from './peek.ts';

/**
 * The sound of an answer, once the first of it is here: an answer without any can still be had elsewhere. What is
 * labelled as a text or JSON is judged by its bytes, since not every server labels its sound rightly. A document indeed
 * is a fault, garbled unless `onDocument` throws the one that it tells of.
 */
export async function openSound(
  { headers, body }: UpstreamReply,
  onDocument: (document: JsonObject) => void,
): Promise<AsyncIterable<Buffer>> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    if (first.done === true) throw new UpstreamError('garbled', 'an answer without sound');
    const type = String(headers['content-type'] ?? '');
    const isLabelled = /json|^text\//i.test(type);
    const head = isLabelled ? await untilSound(first.value, pieces) : first.value;
    // Samples may begin with any byte, but are no JSON.
    const document = head[0] === BRACE ? parseObject(head.toString()) : undefined;
    if (document !== undefined) onDocument(document);
    const isSound = isLabelled ? sniff(head) !== undefined : document === undefined;
    if (!isSound) throw new UpstreamError('garbled', `sound was asked for and ${type || 'JSON'} came`);
    return new Peeked([head], pieces);
  } catch (error) {
    await pieces.return?.();
    throw error;
  }
}

const BRACE = 0x7b;

/** As much as is needed to know it by, at most what a fault is told in. */
async function untilSound(first: Buffer, pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = first;
  while (head.length < SNIFF_BYTES && sniff(head) === undefined) {
    const next = await pieces.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

/** Sound that is already here, as a stream. */
export async function* piecesOf(...data: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* data;
}

/** Callers write a bitrate of 128 as well as of 128000. */
export function kilobits(bitrate: number): number {
  return bitrate < 1000 ? bitrate : bitrate / 1000;
}

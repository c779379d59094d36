import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import { parseObject, type UpstreamReply } from '../kit/http.ts';
import { countAt, isObject, itemsAt, stringAt } from '../kit/json.ts';
import { readEvents } from '../kit/sse.ts';
import { blockOf, contentTypeOf, errorOf } from './wire.ts';

export interface Frame {
  /** As it came, its blank line included. */
  readonly bytes: Buffer;
  readonly data: string;
  readonly body: JsonObject;
}

/**
 * Throws UpstreamError if the upstream answered something else than events. Frames whose shape the caller chose are not
 * held to any, and what cannot be read of them is the caller's own doing.
 */
export async function openFrames(reply: UpstreamReply, isShaped = false): Promise<AsyncIterable<Frame>> {
  const type = contentTypeOf(reply);
  if (type.startsWith('text/event-stream')) return readFrames(reply.body, isShaped);
  const fault = isShaped ? 'client' : 'garbled';
  throw new UpstreamError(fault, `a stream of type "${type}": ${await startOf(reply.body)}`);
}

/** Reading one piece and no more also lets the connection go. */
async function startOf(body: AsyncIterable<Buffer>): Promise<string> {
  for await (const piece of body) return piece.toString('utf8', 0, UPSTREAM_ERROR_BYTES_MAX);
  return '';
}

/** The format has no sentinel: a stream is whole when every candidate that began has told why it finished. */
async function* readFrames(body: AsyncIterable<Buffer>, isShaped: boolean): AsyncIterable<Frame> {
  const begun = new Set<number>();
  const finished = new Set<number>();
  let frames = 0;
  let comments: Buffer[] = [];
  for await (const { bytes, data } of readEvents(body)) {
    if (data === '') {
      comments.push(bytes);
      continue;
    }
    const frame = { bytes: Buffer.concat([...comments, bytes]), data, body: parseFrame(bytes, data, isShaped) };
    comments = [];
    noteCandidates(frame.body, begun, finished);
    frames++;
    yield frame;
  }
  const isWhole = isShaped || (finished.size > 0 && finished.size === begun.size);
  if (frames > 0 && !isWhole) throw new UpstreamError('server', 'the stream ended before its answer did');
}

function parseFrame(bytes: Buffer, data: string, isShaped: boolean): JsonObject {
  if (!endsWithBlankLine(bytes)) throw new UpstreamError('server', 'the stream ended inside a frame');
  const body = parseObject(data);
  if (body === undefined && isShaped) return {};
  if (body === undefined) throw new UpstreamError('garbled', 'a frame is not a JSON object');
  const error = errorOf(body);
  if (error !== undefined) throw error;
  return body;
}

function noteCandidates(body: JsonObject, begun: Set<number>, finished: Set<number>): void {
  for (const candidate of itemsAt(body, 'candidates')) {
    if (!isObject(candidate)) throw new UpstreamError('garbled', 'a candidate is not an object');
    const index = countAt(candidate, 'index') ?? 0;
    begun.add(index);
    if (stringAt(candidate, 'finishReason') !== undefined) finished.add(index);
  }
  if (blockOf(body) === undefined) return;
  begun.add(0);
  finished.add(0);
}

const LF = 0x0a;
const CR = 0x0d;

/** Only the last event of a body can lack it, and then the body was cut. */
function endsWithBlankLine(bytes: Buffer): boolean {
  let end = bytes.length - 1;
  if (bytes[end] === LF && bytes[end - 1] === CR) end--;
  else if (bytes[end] !== LF && bytes[end] !== CR) return false;
  return bytes[end - 1] === LF || bytes[end - 1] === CR;
}

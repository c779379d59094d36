import { UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { FaultTable } from '../../kit/faults.ts';
import { parseObject } from '../../kit/http.ts';
import { countAt, isObject, itemsAt, stringAt } from '../../kit/json.ts';
import { parseEvent, readEvents, type SseEvent } from '../../kit/sse.ts';
import { blockOf } from './wire.ts';

export interface Frame {
  /** As it came, its blank line included. */
  readonly bytes: Buffer;
  readonly data: string;
  readonly body: JsonObject;
}

/**
 * The format has no sentinel: a stream is whole when every candidate that began has told why it finished. Frames whose
 * shape the caller chose are not held to any, and what cannot be read of them is the caller's own doing.
 */
export async function* readFrames(
  body: AsyncIterable<Buffer>,
  faults: FaultTable,
  hasCustomFormat = false,
): AsyncIterable<Frame> {
  const started = new Set<number>();
  const finished = new Set<number>();
  let frames = 0;
  let comments: Buffer[] = [];
  for await (const event of readEvents(body)) {
    const { bytes, data } = event;
    if (data === '') {
      comments.push(bytes);
      continue;
    }
    const frame = {
      bytes: Buffer.concat([...comments, bytes]),
      data,
      body: parseFrame(event, faults, hasCustomFormat),
    };
    comments = [];
    noteCandidates(frame.body, started, finished);
    frames++;
    yield frame;
  }
  const isWhole = hasCustomFormat || (finished.size > 0 && finished.size === started.size);
  if (frames > 0 && !isWhole) throw new UpstreamError('server', 'the stream ended before its answer did');
}

function parseFrame(event: SseEvent, faults: FaultTable, hasCustomFormat: boolean): JsonObject {
  if (!event.isWhole) throw new UpstreamError('server', 'the stream ended inside a frame');
  const body = hasCustomFormat ? (parseObject(event.data) ?? {}) : parseEvent(event);
  faults.throwIfError(body);
  return body;
}

function noteCandidates(body: JsonObject, started: Set<number>, finished: Set<number>): void {
  for (const candidate of itemsAt(body, 'candidates')) {
    if (!isObject(candidate)) throw new UpstreamError('garbled', 'a candidate is not an object');
    const index = countAt(candidate, 'index') ?? 0;
    started.add(index);
    if (stringAt(candidate, 'finishReason') !== undefined) finished.add(index);
  }
  if (blockOf(body) === undefined) return;
  started.add(0);
  finished.add(0);
}

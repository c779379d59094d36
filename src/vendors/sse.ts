import { UpstreamError } from '../errors.ts';
import { UPSTREAM_FRAME_BYTES_MAX } from '../limits.ts';

/** One server-sent event. */
export interface SseEvent {
  /** As it came, its blank line included. */
  readonly bytes: Buffer;
  /** The `event:` field; '' if there is none. */
  readonly event: string;
  /** The `data:` lines, joined. */
  readonly data: string;
}

const LF = 0x0a;
const CR = 0x0d;

/** Cuts a body into events at its blank lines (LF, CRLF or CR). Comments come as events without data. */
export async function* readEvents(body: AsyncIterable<Buffer>): AsyncIterable<SseEvent> {
  const splitter = new EventSplitter();
  for await (const piece of body) yield* splitter.push(piece);
  yield* splitter.end();
}

/** The same, piece by piece. */
export class EventSplitter {
  #pending: Buffer = Buffer.alloc(0);
  #searched = 0;

  /** The events that this piece completes. */
  push(piece: Buffer): SseEvent[] {
    const events: SseEvent[] = [];
    let pending = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    for (let end = endOfEvent(pending, this.#searched); end !== -1; end = endOfEvent(pending, 0)) {
      // A CR at the very end may be half of a CRLF: the event is not over before the next byte is seen.
      if (end === pending.length && pending[end - 1] === CR) break;
      events.push(parseEvent(pending.subarray(0, end)));
      pending = pending.subarray(end);
      this.#searched = 0;
    }
    if (pending.length > UPSTREAM_FRAME_BYTES_MAX) throw new UpstreamError('garbled', 'an event is too large');
    this.#pending = pending;
    // A line end may be cut in two; the last four bytes are looked at again.
    this.#searched = Math.max(0, pending.length - 4);
    return events;
  }

  /** What stands behind the last blank line. */
  end(): SseEvent[] {
    return this.#pending.length === 0 ? [] : [parseEvent(this.#pending)];
  }
}

/** The place behind the first blank line, or -1. */
function endOfEvent(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR) continue;
    const next = byte === CR && bytes[at + 1] === LF ? at + 2 : at + 1;
    if (bytes[next] === LF) return next + 1;
    if (bytes[next] === CR) return bytes[next + 1] === LF ? next + 2 : next + 1;
  }
  return -1;
}

function parseEvent(bytes: Buffer): SseEvent {
  const text = bytes.toString('utf8');
  // By far the most common: one data line.
  if (text.startsWith('data: ') && text.indexOf('\n') >= text.trimEnd().length) {
    return { bytes, event: '', data: text.slice(6).trimEnd() };
  }
  let event = '';
  const data: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  return { bytes, event, data: data.join('\n') };
}

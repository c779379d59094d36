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
  let pending: Buffer = Buffer.alloc(0);
  let searched = 0;
  for await (const chunk of body) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let end = endOfEvent(pending, searched); end !== -1; end = endOfEvent(pending, 0)) {
      // A CR at the very end may be half of a CRLF: the event is not over before the next byte is seen.
      if (end === pending.length && pending[end - 1] === CR) break;
      yield parseEvent(pending.subarray(0, end));
      pending = pending.subarray(end);
      searched = 0;
    }
    if (pending.length > UPSTREAM_FRAME_BYTES_MAX) throw new UpstreamError('garbled', 'an event is too large');
    // A line end may be cut in two; the last four bytes are looked at again.
    searched = Math.max(0, pending.length - 4);
  }
  if (pending.length > 0) yield parseEvent(pending);
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

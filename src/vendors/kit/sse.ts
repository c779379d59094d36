import { isAscii } from 'node:buffer';
import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_FRAME_BYTES_MAX } from '../../limits.ts';
import { parseObject } from './http.ts';

const LF = 0x0a;
const CR = 0x0d;

/** One server-sent event. */
export class SseEvent {
  /** The `event:` field; '' if there is none. */
  readonly event: string = '';
  /** The `data:` lines, joined. */
  readonly data: string;
  readonly #source: Buffer;
  readonly #start: number;
  readonly #end: number;

  /** `text` is what stands in `source` from `start` to `end`, as far as it matters. */
  constructor(text: string, source: Buffer, start: number, end: number) {
    this.#source = source;
    this.#start = start;
    this.#end = end;
    // By far the most common: one data line.
    if (text.startsWith('data: ') && !text.includes('\n') && !text.includes('\r')) {
      this.data = text.slice(6);
      return;
    }
    const data: string[] = [];
    for (const line of text.split(/\r\n|\n|\r/)) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line.startsWith('event:')) this.event = line.slice(6).trim();
    }
    this.data = data.join('\n');
  }

  /** As it came, its blank line included. */
  get bytes(): Buffer {
    return this.#source.subarray(this.#start, this.#end);
  }

  /** Ends with a blank line. Only the last event of a body can lack it, and then the body was cut. */
  get isWhole(): boolean {
    const [source, last] = [this.#source, this.#end - 1];
    const before = source[last] === LF && source[last - 1] === CR ? last - 2 : last - 1;
    return isLineEnd(source[last]) && isLineEnd(source[before]);
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** The JSON object that an event holds. What is none was cut off, or is garbled. */
export function parseEvent(event: SseEvent): JsonObject {
  const value = parseObject(event.data);
  if (value !== undefined) return value;
  if (!event.isWhole) throw new UpstreamError('server', 'the stream ended inside an event');
  throw new UpstreamError('garbled', 'an event is not a JSON object');
}

/** Cuts a body into events at its blank lines (LF, CRLF or CR). Comments come as events without data. */
export async function* readEvents(body: AsyncIterable<Buffer>): AsyncIterable<SseEvent> {
  const splitter = new EventSplitter();
  for await (const piece of body) yield* splitter.push(piece);
  yield* splitter.end();
}

/** The same, piece by piece. */
export class EventSplitter {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #searched = 0;

  /** The events that this piece completes. */
  push(piece: Buffer): SseEvent[] {
    this.#add(piece);
    // A long line in many pieces is put together once, at its end.
    if (!piece.includes(LF) && !piece.includes(CR)) return [];
    const bytes = this.#rest();
    // One character for each byte, so that places in it are places in the bytes.
    const text = bytes.toString('latin1');
    const cut = text.includes('\r') ? afterAnyBlankLine : afterBlankLine;
    const isText = isAscii(bytes);
    const events: SseEvent[] = [];
    let start = 0;
    for (let end = cut(text, this.#searched); end !== -1; end = cut(text, start)) {
      const own = isText ? text.slice(start, end) : bytes.toString('utf8', start, end);
      events.push(new SseEvent(own.trimEnd(), bytes, start, end));
      start = end;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    if (start < bytes.length) this.#add(bytes.subarray(start));
    // A line end may be cut in two; the last four bytes are looked at again.
    this.#searched = Math.max(0, this.#pendingBytes - 4);
    return events;
  }

  /** What stands behind the last blank line. */
  end(): SseEvent[] {
    const rest = this.#rest();
    return rest.length === 0 ? [] : [new SseEvent(rest.toString('utf8').trimEnd(), rest, 0, rest.length)];
  }

  #add(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > UPSTREAM_FRAME_BYTES_MAX) throw new UpstreamError('garbled', 'an event is too large');
  }

  #rest(): Buffer {
    const [first] = this.#pending;
    return first !== undefined && this.#pending.length === 1 ? first : Buffer.concat(this.#pending);
  }
}

/** The place behind the first blank line, or -1. */
function afterBlankLine(text: string, from: number): number {
  const at = text.indexOf('\n\n', from);
  return at === -1 ? -1 : at + 2;
}

/** The same where lines may end in other ways. */
function afterAnyBlankLine(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char !== LF && char !== CR) continue;
    const next = char === CR && text.charCodeAt(at + 1) === LF ? at + 2 : at + 1;
    if (text.charCodeAt(next) === LF) return next + 1;
    if (text.charCodeAt(next) !== CR) continue;
    // A CR at the very end may be half of a CRLF: the event is not over before the next byte is seen.
    if (next + 1 === text.length) return -1;
    return text.charCodeAt(next + 1) === LF ? next + 2 : next + 1;
  }
  return -1;
}

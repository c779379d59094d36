import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { type MarkedJson, type ParsedJson, unmark } from '../../json.ts';
import { BODY_REST_FROM_BYTES, BODY_REST_MS, JSON_INLINE_BYTES_MAX } from '../../limits.ts';
import type { NativeTokens } from '../../schemas/index.ts';
import { Thread } from '../../thread.ts';
import { readNative } from './native-body.ts';

/** What a thread is to read. The memory of the body is handed over with it. */
export interface BodyOrder {
  readonly kind: 'json' | 'native';
  readonly body: BodyMemory;
}

interface BodyMemory {
  readonly buffer: ArrayBuffer;
  readonly start: number;
  readonly bytes: number;
}

export type BodyReport =
  | { readonly state: 'json'; readonly json: MarkedJson }
  /** The bytes are passed on as they are, so they come back. */
  | { readonly state: 'native'; readonly tokens: NativeTokens; readonly body: BodyMemory }
  | { readonly state: 'refused'; readonly code: ErrorCode; readonly message: string };

/** What came of a native body: the same bytes, and what they ask for. */
interface NativeBody {
  readonly body: Buffer;
  readonly tokens: NativeTokens;
}

/**
 * Reads bodies that would keep the event loop for longer than a request may: in a thread, which is there only while there
 * are such bodies, one after the other. What comes back is bounded by the caps of `scanJson`, so that taking it over is
 * short too, and after a body that is large even so the loop is left to others before the next is begun (ADR 0021).
 */
export class LargeBodies {
  #thread: Thread<BodyOrder, BodyReport> | undefined;
  /** Of the body that is being read. */
  #report = Promise.withResolvers<BodyReport>();
  /** Settles when the next body may be begun. */
  #turn: Promise<unknown> = Promise.resolve();

  /** Throws `invalid_json`. The bytes are used up. */
  async json(bytes: Buffer): Promise<ParsedJson> {
    const report = await this.#read('json', bytes);
    if (report.state !== 'json') throw refusalOf(report);
    await setImmediate();
    const { value, exact } = unmark(report.json);
    if (report.json.written.length === 0) return { value, exact };
    // As long a piece of work as the one before it.
    await setImmediate();
    const made = exact();
    await setImmediate();
    return { value, exact: () => made };
  }

  /** A small one is read at once. Throws `bad_request_body`. The bytes are used up; the same come back. */
  async native(bytes: Buffer): Promise<NativeBody> {
    if (bytes.length <= JSON_INLINE_BYTES_MAX) return { body: bytes, tokens: readNative(bytes) };
    const report = await this.#read('native', bytes);
    if (report.state !== 'native') throw refusalOf(report);
    const { buffer, start, bytes: length } = report.body;
    return { body: Buffer.from(buffer, start, length), tokens: report.tokens };
  }

  #read(kind: BodyOrder['kind'], bytes: Buffer): Promise<BodyReport> {
    const report = this.#turn.then(() => this.#handOver({ kind, body: memoryOf(bytes) }));
    const rest = bytes.length < BODY_REST_FROM_BYTES ? () => setImmediate() : () => sleep(BODY_REST_MS);
    this.#turn = report.then(rest, rest);
    return report;
  }

  #handOver(order: BodyOrder): Promise<BodyReport> {
    this.#report = Promise.withResolvers();
    this.#thread ??= this.#start();
    this.#thread.give(order, [order.body.buffer]);
    return this.#report.promise;
  }

  #start(): Thread<BodyOrder, BodyReport> {
    const onReport = (report: BodyReport) => {
      this.#thread?.rest();
      this.#report.resolve(report);
    };
    return new Thread(new URL('./body-thread.ts', import.meta.url), onReport, (detail) => {
      this.#thread = undefined;
      this.#report.reject(new Error(detail));
    });
  }
}

/** Memory that is part of a larger piece is copied: what else lies in that would be handed over as well. */
function memoryOf(bytes: Buffer): BodyMemory {
  const { buffer, byteOffset: start, length } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && length > JSON_INLINE_BYTES_MAX;
  return isOwn ? { buffer, start, bytes: length } : { buffer: new Uint8Array(bytes).buffer, start: 0, bytes: length };
}

function refusalOf(report: BodyReport): Error {
  if (report.state === 'refused') return new ApiError(report.code, { message: report.message });
  return new Error('the thread has read something else');
}

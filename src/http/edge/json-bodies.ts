import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { type MarkedJson, type ParsedJson, unmark } from '../../json.ts';
import { BODY_REST_FROM_BYTES, BODY_REST_MS, JSON_INLINE_MAX } from '../../limits.ts';
import { Thread } from '../../thread.ts';
import { type JsonKind, parseBody } from './parse-body.ts';

/** What a thread is to parse. The memory of the body is transferred with it. */
export interface BodyOrder extends BodyTerms {
  readonly kind: JsonKind;
  readonly body: ArrayBuffer;
}

interface BodyTerms {
  /** Whether its memory is to be transferred back. */
  readonly isKept: boolean;
  /** How many values it may have; undefined for the usual bound. */
  readonly valuesMax?: number | undefined;
}

export type BodyReport =
  /** The memory of a body that is kept is transferred back. */
  | { readonly state: 'parsed'; readonly json: MarkedJson; readonly body: ArrayBuffer | undefined }
  | { readonly state: 'refused'; readonly code: ErrorCode; readonly message: string };

/** What came of a body. Of a native one, `value` is its tokens. `bytes` is empty where a large one was not kept. */
export interface JsonBody extends ParsedJson {
  readonly bytes: Buffer;
}

/**
 * The one way from the bytes of a JSON body to its value, on every route: a small body is parsed at once, a large one in
 * a thread, which is there only while there are such bodies, one after the other. What comes back is bounded by the caps
 * of `scanJson`, so that taking it over is short too, and after a body that is large even so the event loop is left to
 * other requests before the next is begun (ADR 0021).
 */
export class JsonBodies {
  #thread: Thread<BodyOrder, BodyReport> | undefined;
  /** Of the body that is being parsed. */
  #report = Promise.withResolvers<BodyReport>();
  /** Settles when the next body may be begun. */
  #turn: Promise<unknown> = Promise.resolve();

  /** Throws `invalid_json`, or `bad_request_body` of a native body. The memory of a large body is detached. */
  read(kind: JsonKind, bytes: Buffer, terms: BodyTerms): JsonBody | Promise<JsonBody> {
    const isShort = bytes.length <= JSON_INLINE_MAX.bytes;
    const json = isShort ? parseBody(kind, bytes, terms.valuesMax, JSON_INLINE_MAX.values) : undefined;
    return json === undefined ? this.#readLarge(kind, bytes, terms) : { ...unmark(json), bytes };
  }

  async #readLarge(kind: JsonKind, bytes: Buffer, terms: BodyTerms): Promise<JsonBody> {
    const report = this.#turn.then(() => this.#parseInThread({ kind, body: memoryOf(bytes), ...terms }));
    const rest = bytes.length < BODY_REST_FROM_BYTES ? () => setImmediate() : () => sleep(BODY_REST_MS);
    this.#turn = report.then(rest, rest);
    const parsed = await report;
    if (parsed.state === 'refused') throw new ApiError(parsed.code, { message: parsed.message });
    await setImmediate();
    const body = { ...unmark(parsed.json), bytes: Buffer.from(parsed.body ?? new ArrayBuffer()) };
    if (parsed.json.written.length === 0) return body;
    // As long a piece of work as the one before it.
    await setImmediate();
    const exact = body.exact();
    await setImmediate();
    return { ...body, exact: () => exact };
  }

  #parseInThread(order: BodyOrder): Promise<BodyReport> {
    this.#report = Promise.withResolvers();
    this.#thread ??= this.#start();
    this.#thread.give(order, [order.body]);
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

/** Memory that is part of a larger piece is copied: what else lies in that would be transferred as well. */
function memoryOf(bytes: Buffer): ArrayBuffer {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length ? buffer : new Uint8Array(bytes).buffer;
}

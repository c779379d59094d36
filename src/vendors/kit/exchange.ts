import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { UpstreamError } from '../../errors.ts';
import { UPSTREAM_BUFFER_BYTES_MAX } from '../../limits.ts';

/** A body that is read while it is sent. A failure to read it ends the call as it is, and is no UpstreamError. */
export interface StreamedBody {
  /** Of all pieces together. */
  readonly bytes: number;
  readonly pieces: AsyncIterable<Buffer>;
}

/** One request on the wire. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | StreamedBody | null;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Called once, when the whole answer is here, or with what ended it; the status is 0 before its headers. */
  readonly onEnd?: ((error: unknown, status: number) => void) | undefined;
}

export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Sends a request and resolves with its headers; the body follows piece by piece. It speaks to the client library on
 * its lowest level: a stream object for each answer would cost more than everything else that is done for it.
 */
export function exchange(pool: Pool, request: UpstreamRequest): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    if (request.signal.aborted) throw abortError();
    const { method, path, timeoutMs } = request;
    const { body, length } = toSend(request.body);
    const headers = { ...request.headers, ...length };
    const response = new ResponseStream(request, resolve, (error) => {
      reject(body instanceof RequestStream && body.failure !== undefined ? body.failure.error : error);
    });
    pool.dispatch({ method, path, headers, body, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }, response);
  });
}

function toSend(body: UpstreamRequest['body']): {
  body: string | Buffer | RequestStream | null;
  length?: Record<string, string>;
} {
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) return { body };
  return { body: new RequestStream(body.pieces), length: { 'content-length': String(body.bytes) } };
}

/** A streamed body, for the client library. It remembers whether it was the reading that failed. */
class RequestStream extends Readable {
  readonly #pieces: AsyncIterator<Buffer>;
  failure: { readonly error: unknown } | undefined;

  constructor(pieces: AsyncIterable<Buffer>) {
    super();
    this.#pieces = pieces[Symbol.asyncIterator]();
    // The library listens only as long as it sends; an error after that has no listener of its own.
    this.on('error', () => undefined);
  }

  override _read(): void {
    this.#pieces.next().then(
      ({ value, done }) => this.push(done === true ? null : value),
      (error: unknown) => {
        this.failure = { error };
        this.destroy(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    Promise.resolve(this.#pieces.return?.()).then(
      () => done(error),
      () => done(error),
    );
  }
}

type Result = IteratorResult<Buffer, undefined>;

/** Takes an answer from the wire, and hands out its body to one reader. */
class ResponseStream implements Dispatcher.DispatchHandler, AsyncIterableIterator<Buffer, undefined> {
  readonly #signal: AbortSignal;
  readonly #onEnd: UpstreamRequest['onEnd'];
  readonly #resolve: (reply: UpstreamReply) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = () => this.#controller?.abort(abortError());
  #controller: Dispatcher.DispatchController | undefined;
  /** 0 until the headers are here. */
  #status = 0;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #error: unknown;
  #arrival: PromiseWithResolvers<void> | undefined;

  constructor(
    { signal, onEnd }: UpstreamRequest,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: unknown) => void,
  ) {
    this.#signal = signal;
    this.#onEnd = onEnd;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) controller.abort(abortError());
    else this.#signal.addEventListener('abort', this.#onAbort);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: UpstreamReply['headers']): void {
    if (status < 200) return;
    this.#status = status;
    this.#resolve({ status, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > UPSTREAM_BUFFER_BYTES_MAX) controller.pause();
    this.#arrival?.resolve();
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // A request whose writing has not begun cannot have arrived. From then on it may have.
    this.#end(toUpstreamError(error, this.#controller !== undefined));
  }

  #end(error: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#onEnd?.(error, this.#status);
    if (this.#status === 0) this.#reject(error);
    else this.#arrival?.resolve();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** All that has come: what one read of the socket holds is often many pieces, and goes on as one. */
  async next(): Promise<Result> {
    while (this.#pieces.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return { value: undefined, done: true };
      this.#arrival = Promise.withResolvers<void>();
      await this.#arrival.promise;
    }
    const [first] = this.#pieces;
    const value = first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#controller?.paused === true) this.#controller.resume();
    return { value, done: false };
  }

  /** A reader that stops closes the connection. */
  return(): Promise<Result> {
    if (!this.#ended) this.#controller?.abort(abortError());
    this.#pieces = [];
    return Promise.resolve({ value: undefined, done: true });
  }
}

function abortError(): Error {
  return new DOMException('The call was given up.', 'AbortError');
}

const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** What the socket did, as a fault. A call that was aborted here is none. */
function toUpstreamError(error: Error, isUncertain: boolean): unknown {
  if (error.name === 'AbortError') return error;
  const code = 'code' in error ? String(error.code) : '';
  const fault = TIMEOUT_CODES.has(code) ? 'timeout' : 'connection';
  return new UpstreamError(fault, `${code} ${error.message}`, { isUncertain, cause: error });
}

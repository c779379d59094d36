import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { ApiError, type ErrorCode, type ErrorEnvelope, errorEnvelope } from '../../errors.ts';
import { KEEP_ALIVE_EVERY_MS } from '../../limits.ts';
import type { Logger } from '../../log.ts';
import { takeOverChunking } from './private-fields.ts';
import { markStreamed } from './request-line.ts';

/** How a stream ends badly: with the frame alone, or by cutting the connection after it. */
export interface EventStream {
  /** Each is written as it is, as soon as it comes. */
  readonly frames: AsyncIterable<string | Buffer>;
  readonly contentType: string;
  /** Written after the last frame of a stream that went well. */
  readonly end: string;
  /** The frame that tells a failure; called once, when `frames` has thrown. */
  error(envelope: ErrorEnvelope): string;
  /** Some clients take a clean end for success whatever was said before it: they are cut off. */
  readonly cutOnError: boolean;
  /** Written while nothing else is, so that no proxy takes the connection for dead. */
  readonly keepAlive?: string;
}

/** A comment of the format, which every client passes over. */
export const KEEP_ALIVE_COMMENT = ': keep-alive\n\n';

/** Takes the answer over from the framework. Resolves when the stream has ended, well or not. */
export async function sendEvents(reply: FastifyReply, stream: EventStream, log: Logger): Promise<void> {
  const { raw } = reply;
  markStreamed(reply);
  reply.hijack();
  reply
    .header('content-type', stream.contentType)
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no');
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200);
  const body = new StreamBody(raw);
  const { keepAlive } = stream;
  const timer = keepAlive === undefined ? undefined : setInterval(() => body.write(keepAlive), KEEP_ALIVE_EVERY_MS);
  try {
    for await (const frame of stream.frames) {
      if (raw.destroyed) return;
      if (!body.write(frame)) await drained(raw);
    }
    body.end(stream.end);
  } catch (error) {
    // A caller who has left is told nothing.
    if (!raw.destroyed) reply.streamFault = failStream(body, stream, error, log);
  } finally {
    clearInterval(timer);
  }
}

/** Writes each frame as one chunk where the body is chunked; what is not chunked stays as it is. */
class StreamBody {
  readonly #raw: ServerResponse;
  readonly #isChunked: boolean;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
    this.#isChunked = takeOverChunking(raw);
  }

  /** False when the reader is slow. */
  write(frame: string | Buffer): boolean {
    return this.#raw.write(this.#isChunked ? toChunk(frame) : frame);
  }

  /** Ends the connection in the middle of the body. */
  cutAfter(text: string): void {
    this.#raw.write(this.#isChunked ? toChunk(text) : text, () => this.#raw.destroy());
  }

  end(text: string): void {
    this.#raw.end(this.#isChunked ? toChunk(text) + LAST_CHUNK : text);
  }
}

const LAST_CHUNK = '0\r\n\r\n';
const CRLF = Buffer.from('\r\n');

function toChunk(frame: string): string;
function toChunk(frame: string | Buffer): string | Buffer;
function toChunk(frame: string | Buffer): string | Buffer {
  // An empty chunk would be the last one.
  if (frame.length === 0) return frame;
  const size = `${Buffer.byteLength(frame).toString(16)}\r\n`;
  return typeof frame === 'string' ? `${size}${frame}\r\n` : Buffer.concat([Buffer.from(size), frame, CRLF]);
}

/** Returns the code that the caller is told. */
function failStream(body: StreamBody, stream: EventStream, error: unknown, log: Logger): ErrorCode {
  const apiError = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
  if (apiError !== error) log.error({ err: error }, 'unexpected error in a stream');
  const text = stream.error(errorEnvelope(apiError.code, apiError.message, apiError.param));
  if (stream.cutOnError) body.cutAfter(text);
  else body.end(text);
  return apiError.code;
}

/** A slow reader holds the upstream back instead of filling memory. */
export function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
  });
}

import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { ApiError, errorEnvelope } from '../errors.ts';
import { KEEP_ALIVE_EVERY_MS } from '../limits.ts';
import type { Logger } from '../log.ts';

/** How a stream ends badly: with the frame alone, or by cutting the connection after it. */
export interface EventStream {
  /** Each is written as it is, as soon as it comes. */
  readonly frames: AsyncIterable<string | Buffer>;
  readonly contentType: string;
  /** Written after the last frame of a stream that went well. */
  readonly end: string;
  /** The frame that tells a failure. */
  error(envelope: string): string;
  /** Some clients take a clean end for success whatever was said before it: they are cut off. */
  readonly cutOnError: boolean;
  readonly keepAlive: boolean;
}

/** Takes the answer over from the framework. Resolves when the stream has ended, well or not. */
export async function sendEvents(reply: FastifyReply, stream: EventStream, log: Logger): Promise<void> {
  const { raw } = reply;
  reply.hijack();
  reply
    .header('content-type', stream.contentType)
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no');
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200);
  const keepAlive = stream.keepAlive
    ? setInterval(() => raw.write(': keep-alive\n\n'), KEEP_ALIVE_EVERY_MS)
    : undefined;
  try {
    for await (const frame of stream.frames) {
      if (raw.destroyed) return;
      if (!raw.write(frame)) await drained(raw);
    }
    raw.end(stream.end);
  } catch (error) {
    failStream(raw, stream, error, log);
  } finally {
    clearInterval(keepAlive);
  }
}

/** A caller who has left is told nothing. */
function failStream(raw: ServerResponse, stream: EventStream, error: unknown, log: Logger): void {
  if (raw.destroyed) return;
  const told = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
  if (told !== error) log.error({ err: error }, 'unexpected error in a stream');
  const text = stream.error(JSON.stringify(errorEnvelope(told.code, told.message)));
  if (stream.cutOnError) raw.write(text, () => raw.destroy());
  else raw.end(text);
}

/** A slow reader holds the upstream back instead of filling memory. */
function drained(raw: ServerResponse): Promise<void> {
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

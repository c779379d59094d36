import type { FastifyReply } from 'fastify';
import { ApiError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { drained } from './events.ts';
import { markStreamed } from './request-line.ts';

export interface AudioStream {
  readonly mimeType: string;
  /** Made by us: letters, digits, dots and dashes. */
  readonly fileName: string;
  /** Each is written as it is, as soon as it comes. */
  readonly pieces: AsyncIterable<Buffer>;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent behind the last piece; each has to be announced among the headers. */
  readonly trailers: () => Readonly<Record<string, string>>;
}

/**
 * Takes the answer over from the framework. Resolves when the sound has ended, well or not: badly ended, the connection
 * is cut, since a clean end would pass for the end of the sound.
 */
export async function sendAudio(reply: FastifyReply, stream: AudioStream, log: Logger): Promise<void> {
  const { raw } = reply;
  markStreamed(reply);
  reply.hijack();
  reply.headers({
    ...stream.headers,
    'content-type': stream.mimeType,
    'content-disposition': `inline; filename="${stream.fileName}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  });
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200);
  try {
    for await (const piece of stream.pieces) {
      if (raw.destroyed) return;
      if (!raw.write(piece)) await drained(raw);
    }
    raw.addTrailers(stream.trailers());
    raw.end();
  } catch (error) {
    const isExpected = error instanceof ApiError || raw.destroyed;
    if (!isExpected) log.error({ request_id: reply.request.id, err: error }, 'unexpected error in a stream');
    if (!raw.destroyed) reply.streamFault = error instanceof ApiError ? error.code : 'internal_error';
    raw.destroy();
  }
}

import type { Socket } from 'node:net';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Client } from 'undici';
import { boundReads } from '../bounded-reads.ts';
import { ApiError } from '../errors.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  /** Lets the connection go. */
  end(): void;
}

/** All that is ever sent: nothing of a caller, and no cookie or credential. */
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'tollgate' };

/** One request on this connection, which nothing else uses before or after. */
export async function get(url: URL, socket: Socket, signal: AbortSignal): Promise<Answer> {
  const client = new Client(url.origin, {
    // Not at once: the client would wait for a connection that it does not know it has.
    connect: (_options, callback) => queueMicrotask(() => callback(...lent(socket))),
    // The signal ends everything in time.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const path = url.pathname + url.search;
  const answer = await client.request({ method: 'GET', path, headers: HEADERS, reset: true, signal });
  const end = () => void socket.destroy();
  return { status: answer.statusCode, headers: answer.headers, body: answer.body, end };
}

/** The client would take a closed connection for bad luck, and ask for another for ever. */
function lent(socket: Socket): [null, Socket] | [Error, null] {
  return socket.destroyed ? [new Error('the connection is closed'), null] : [null, boundReads(socket)];
}

/** The address to ask instead. */
export function redirection({ status, headers }: Answer): string | undefined {
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  return isRedirect && typeof headers.location === 'string' ? headers.location : undefined;
}

/** The bytes behind any encoding, at most `bytesMax` on the wire and decoded. Throws at once for what cannot be read. */
export function decodedBody({ status, headers, body }: Answer, bytesMax: number): AsyncIterable<Buffer> {
  if (status !== 200) throw notFetchable(`the status is ${status}`);
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw notFetchable(new BodyTooLarge());
  const decoder = decoderOf(String(headers['content-encoding'] ?? 'identity'));
  const wire = capped(body, bytesMax);
  if (decoder === undefined) return wire;
  const decoded = pipeline(wire, decoder, () => undefined);
  return capped(decoded, bytesMax);
}

/** Asked for bytes as they are, some stores still give what they keep compressed. */
function decoderOf(encoding: string): Transform | undefined {
  switch (encoding.toLowerCase()) {
    case 'identity':
      return undefined;
    case 'gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    default:
      throw notFetchable('its encoding is unknown');
  }
}

/** The cause of a fetch that failed because there is, or is announced, more than may be read. */
export class BodyTooLarge extends Error {
  constructor() {
    super('the body is too large');
  }
}

/** Allowed, and yet not to be had. */
export function notFetchable(reason: unknown): ApiError {
  return new ApiError('invalid_input_url', { cause: reason instanceof Error ? reason : new Error(String(reason)) });
}

async function* capped(pieces: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) throw notFetchable(new BodyTooLarge());
    yield piece;
  }
}

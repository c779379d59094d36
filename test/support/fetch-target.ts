import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { pino } from 'pino';
import { ApiError, type ErrorCode, errorEnvelope } from '../../src/errors.ts';
import { type Fetched, GuardedFetch, type GuardedFetchOptions } from '../../src/fetch/guarded-fetch.ts';

/** A server on this machine that is fetched from, or must not be: it counts who comes. */
export class FetchTarget {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly requests: IncomingMessage[] = [];
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.prependListener('request', (request: IncomingMessage) => this.requests.push(request));
  }

  static async start(
    answer: RequestListener,
    options: { host?: string; certificate?: { key: string; cert: string } } = {},
  ): Promise<FetchTarget> {
    const { host = '127.0.0.1', certificate } = options;
    const server = certificate === undefined ? createServer(answer) : createSecureServer(certificate, answer);
    const target = new FetchTarget(server);
    // A test that fails before it disposes of this must not run for ever.
    server.listen(0, host).unref();
    await once(server, 'listening');
    return target;
  }

  get port(): number {
    const address: string | AddressInfo | null = this.#server.address();
    assert.ok(address !== null && typeof address !== 'string');
    return address.port;
  }

  /** Under a name that only a test's resolver knows. */
  at(host: string, path = '/'): string {
    return `http://${host}:${this.port}${path}`;
  }

  /** Resolves when no client is connected any more. */
  async left(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.on('close', resolve))));
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Answers 200 with these bytes. */
export function giving(bytes: Buffer | string): RequestListener {
  return (_request: IncomingMessage, response: ServerResponse) => void response.end(bytes);
}

/** Answers `/5` with a redirect to `/4`, and so on until `/0`, which is 200. */
export function countdown(request: IncomingMessage, response: ServerResponse): void {
  const left = Number.parseInt(request.url?.slice(1) ?? '', 10);
  if (left === 0) response.end('arrived');
  else response.writeHead(302, { location: `/${left - 1}` }).end('on the way');
}

/** A fetcher that allows `media.test`, the name of this machine in these tests. */
export function fetcher(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  const log = pino({ level: 'silent' });
  return new GuardedFetch({ allow: ['media.test'], log, resolve: async () => ['127.0.0.1'], ...options });
}

export async function bytesOf(fetched: Fetched): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of fetched.body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** All of it, at most a MiB. */
export async function fetchText(fetch: GuardedFetch, url: string): Promise<string> {
  return (await bytesOf(await fetch.open(url, { bytesMax: 1024 * 1024 }))).toString();
}

/** The whole of what a caller would be told is the table's own text, whatever happened. */
export async function assertTold(work: Promise<unknown>, code: ErrorCode, why = ''): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, `${why}: ${String(error)}`);
    assert.deepEqual(errorEnvelope(error.code, error.message), errorEnvelope(code), why);
    return true;
  });
}

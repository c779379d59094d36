import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Gateway } from './gateway.ts';
import { WAIT_MS_MAX } from './patience.ts';

const DESCRIPTION_CHARS = 4000;
const MODELS = 600;

/**
 * A catalogue whose list is seven megabytes: more than two sockets on one machine hold between them, so that an answer
 * stays unfinished until its caller reads it.
 */
export function longCatalogue(): object {
  const models = Array.from({ length: MODELS }, (_, place) => ({
    id: `long/${place}`,
    modality: 'chat',
    owned_by: 'test',
    // Three bytes a character.
    description: '語'.repeat(DESCRIPTION_CHARS),
    endpoints: ['chat'],
    context_tokens: 1000,
    max_output_tokens: 1000,
    pricing: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 1 } },
    routes: [{ upstream: 'sandbox', model: 'chat' }],
  }));
  return { upstreams: [{ id: 'sandbox', vendor: 'sandbox' }], models };
}

/** A request for the long list by a caller who does not read the answer yet, and so holds a slot. */
export class UnreadRequest {
  readonly #socket: Socket;
  readonly #hostname: string;
  #bytesLeft = 0;

  private constructor(socket: Socket, hostname: string) {
    this.#socket = socket;
    this.#hostname = hostname;
    socket.on('error', () => undefined);
  }

  /** Sends the request and does not wait for anything. */
  static begin(gateway: Gateway, key: string): UnreadRequest {
    const { hostname, port } = new URL(gateway.url);
    const request = new UnreadRequest(connect({ host: hostname, port: Number(port) }), hostname);
    request.askFor('/v1/models', key);
    return request;
  }

  /** Resolves once the answer has begun. */
  static async send(gateway: Gateway, key: string): Promise<UnreadRequest> {
    const request = UnreadRequest.begin(gateway, key);
    await request.#readHead();
    return request;
  }

  /** Sends a further request on the same connection, whose answer has to wait for the first to be read. */
  askFor(path: string, key: string): void {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  }

  /** Takes the rest of the answer. */
  async read(): Promise<void> {
    for await (const bytes of this.#socket) {
      this.#bytesLeft -= bytes.length;
      if (this.#bytesLeft <= 0) break;
    }
    assert.equal(this.#bytesLeft, 0);
  }

  /** Goes away as a killed program does. */
  drop(): void {
    this.#socket.resetAndDestroy();
  }

  /** Closes in order, without having read. */
  close(): void {
    this.#socket.destroy();
  }

  async #readHead(): Promise<void> {
    await once(this.#socket, 'readable', { signal: AbortSignal.timeout(WAIT_MS_MAX) });
    const begun: Buffer = this.#socket.read();
    const headBytes = begun.indexOf('\r\n\r\n') + 4;
    const head = begun.toString('latin1', 0, headBytes);
    assert.match(head, /^HTTP\/1\.1 200 /);
    const bodyBytes = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1]);
    this.#bytesLeft = headBytes + bodyBytes - begun.length;
  }
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';

const SWEEP_EVERY_MS = 50;
/** After an answer that could not say `connection: close`, the next request on its connection is waited for this long. */
const LINGER_MS = 1_000;

const PROBE = /^\/(healthz|livez|readyz)(\?|$)/;

/**
 * Drains a server in three phases. First it is unready: probes tell, requests are still served, and every answer closes its
 * connection, so that the next request goes to another process. Then new requests are refused while those that run end. At
 * last every connection is closed.
 */
export class Stopping {
  readonly #server: Server;
  readonly #drained = Promise.withResolvers<void>();
  readonly #running = new Set<ServerResponse>();
  /** Connections whose running answer began before the drain: the next request on each is served, and closes it. */
  readonly #unaware = new Set<Socket>();
  #phase: 'open' | 'unready' | 'refusing' = 'open';

  constructor(server: Server) {
    this.#server = server;
  }

  /** The process is unready: a load balancer should send it no more requests. */
  get begun(): boolean {
    return this.#phase !== 'open';
  }

  /** A request has been taken; `leave` follows when its answer has ended in whatever way. */
  enter(response: ServerResponse): void {
    this.#running.add(response);
    if (this.begun) response.shouldKeepAlive = false;
  }

  leave(response: ServerResponse): void {
    this.#running.delete(response);
    const { socket } = response.req;
    if (this.#unaware.has(socket)) setTimeout(() => this.#forget(socket), LINGER_MS);
    this.#checkDrained();
  }

  /** Probes are still answered, so that a load balancer learns of the stop. */
  refuses({ url = '', socket }: IncomingMessage): boolean {
    return this.#phase === 'refusing' && !PROBE.test(url) && !this.#unaware.delete(socket);
  }

  /** Goes on listening while requests run: a closed port would tell a load balancer less than a refusal does. */
  async stop(unreadyMs: number, drainMs: number, close: () => Promise<unknown>): Promise<void> {
    this.#phase = 'unready';
    for (const response of this.#running) if (!response.headersSent) response.shouldKeepAlive = false;
    if (unreadyMs > 0) await pass(unreadyMs);
    this.#refuse();
    const deadline = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#drained.resolve();
    }, drainMs);
    await this.#drained.promise;
    // A kept-alive connection that was busy at the call to close() would hold it open for ever after.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_EVERY_MS);
    try {
      await close();
    } finally {
      clearInterval(sweep);
      clearTimeout(deadline);
    }
  }

  #refuse(): void {
    this.#phase = 'refusing';
    for (const { headersSent, shouldKeepAlive, req } of this.#running) {
      if (!headersSent || !shouldKeepAlive) continue;
      this.#unaware.add(req.socket);
      req.socket.once('close', () => this.#forget(req.socket));
    }
    this.#checkDrained();
  }

  #forget(socket: Socket): void {
    this.#unaware.delete(socket);
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#phase === 'refusing' && this.#running.size + this.#unaware.size === 0) this.#drained.resolve();
  }
}

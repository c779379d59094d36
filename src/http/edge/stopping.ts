import type { Server } from 'node:http';

const SWEEP_EVERY_MS = 50;

const PROBE = /^\/(healthz|livez|readyz)(\?|$)/;

/** Ends a server in order: nothing new, running requests to their end, then every connection. */
export class Stopping {
  readonly #server: Server;
  readonly #drained = Promise.withResolvers<void>();
  #running = 0;
  #begun = false;

  constructor(server: Server) {
    this.#server = server;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** A request has been taken; `leave` follows when its answer has ended in whatever way. */
  enter(): void {
    this.#running++;
  }

  leave(): void {
    this.#running--;
    if (this.#begun && this.#running === 0) this.#drained.resolve();
  }

  /** Probes are still answered, so that a load balancer learns of the stop. */
  refuses(url: string): boolean {
    return this.#begun && !PROBE.test(url);
  }

  /** Goes on listening while requests run: a closed port would tell a load balancer less than a refusal does. */
  async stop(timeoutMs: number, close: () => Promise<unknown>): Promise<void> {
    this.#begun = true;
    if (this.#running === 0) this.#drained.resolve();
    const deadline = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#drained.resolve();
    }, timeoutMs);
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
}

import type { Server } from 'node:http';

const SWEEP_EVERY_MS = 50;

/** Ends a server in order: nothing new, running requests to their end, then every connection. */
export class Stopping {
  readonly #server: Server;
  #begun = false;

  constructor(server: Server) {
    this.#server = server;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** The probe is still answered on open connections, so that whoever asks learns of the stop. */
  refuses(url: string): boolean {
    return this.#begun && !url.startsWith('/healthz');
  }

  async stop(timeoutMs: number, close: () => Promise<unknown>): Promise<void> {
    this.#begun = true;
    // A kept-alive connection that was busy at the call to close() would hold it open for ever after.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_EVERY_MS);
    const deadline = setTimeout(() => this.#server.closeAllConnections(), timeoutMs);
    try {
      await close();
    } finally {
      clearInterval(sweep);
      clearTimeout(deadline);
    }
  }
}

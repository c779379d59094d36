import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on a port of this machine that is chosen when it starts. */
export abstract class LocalServer {
  readonly #server = createServer((request, response) => {
    this.serve(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });

  /** What it throws ends the connection. */
  protected abstract serve(request: IncomingMessage, response: ServerResponse): Promise<void>;

  async start(): Promise<void> {
    // It keeps no process alive: what fails before its end ends all the same.
    await once(this.#server.listen(0, '127.0.0.1').unref(), 'listening');
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  get origin(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** The bare origin, as most vendors' addresses are. */
  get url(): string {
    return this.origin;
  }
}

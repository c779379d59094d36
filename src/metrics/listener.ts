import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bearerCheck } from '../bearer.ts';
import type { Secret } from '../config.ts';
import { METRICS_CONNECTIONS_MAX } from '../limits.ts';
import type { Exposition } from '../signals/index.ts';

/** A port of its own for `/metrics`: nothing else is there. Without a token whatever reaches the port may read. */
export class MetricsListener {
  readonly #server: Server;

  constructor(exposition: Exposition, token: Secret | undefined) {
    const isAllowed = token === undefined ? () => true : bearerCheck(token);
    this.#server = createServer((request, response) => {
      const path = request.url?.split('?', 1)[0];
      if (request.method !== 'GET' || path !== '/metrics') return void response.writeHead(404).end();
      if (!isAllowed(request.headers.authorization)) {
        return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      }
      exposition.text().then(
        (text) => response.writeHead(200, { 'content-type': exposition.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    this.#server.maxConnections = METRICS_CONNECTIONS_MAX;
    this.#server.requestTimeout = 10_000;
  }

  /** Resolves with the port; rejects when it is taken. */
  async listen(port: number, host: string): Promise<number> {
    const listening = Promise.withResolvers<void>();
    this.#server.once('error', listening.reject);
    // Not shared between the processes of a cluster: each has figures of its own.
    this.#server.listen({ port, host, exclusive: true }, listening.resolve);
    await listening.promise;
    this.#server.unref();
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }
}

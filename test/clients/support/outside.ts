import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in the internet's place: it lets nothing through, and remembers which hosts were asked for. */
export class Outside {
  readonly hosts: string[] = [];
  readonly #server = createServer((request, response) => {
    this.hosts.push(request.url ?? '');
    response.writeHead(403).end();
  });

  async start(): Promise<void> {
    this.#server.on('connect', ({ url = '' }, socket) => {
      this.hosts.push(url);
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await once(this.#server.listen(0, '127.0.0.1').unref(), 'listening');
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** What sends a program's calls here, whatever it is written in; those to this machine go directly. */
  get environment(): Record<string, string> {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const direct = '127.0.0.1,localhost';
    return {
      ...{ HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: direct },
      ...{ http_proxy: url, https_proxy: url, all_proxy: url, no_proxy: direct },
      NODE_USE_ENV_PROXY: '1',
    };
  }
}

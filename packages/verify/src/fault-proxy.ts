import { once } from 'node:events';
import type { AddressInfo, NetConnectOpts, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A TCP proxy between the gateways and an engine. A cut resets every connection and refuses new ones until the restore. */
export class FaultProxy {
  readonly port: number;
  readonly #server = createServer();
  readonly #sockets = new Set<Socket>();

  private constructor(port: number) {
    this.port = port;
  }

  static async open(target: NetConnectOpts): Promise<FaultProxy> {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    const proxy = new FaultProxy(port);
    proxy.#server.on('connection', (client) => proxy.#join(client, connect(target)));
    await proxy.restore();
    return proxy;
  }

  async restore(): Promise<void> {
    this.#server.listen(this.port, '127.0.0.1').unref();
    await once(this.#server, 'listening');
  }

  async cut(): Promise<void> {
    this.#server.close();
    // A Unix socket has no reset.
    for (const socket of this.#sockets) {
      if (socket.remoteFamily === undefined) socket.destroy();
      else socket.resetAndDestroy();
    }
    await once(this.#server, 'close');
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #join(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}

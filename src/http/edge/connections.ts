import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../addresses.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { CONNECTIONS_CHECK_MS, REFUSED_CONNECTIONS_PER_ADDRESS_MAX } from '../../limits.ts';
import type { Logger } from '../../log.ts';
import { addressList } from './client-address.ts';
import { ReaderPace } from './reader-pace.ts';
import { refuseSocket } from './refuse.ts';

export interface ConnectionDeps {
  readonly config: Pick<Config, 'connectionsMax' | 'connectionsPerAddressMax' | 'trustedProxies'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Bounds open connections before a byte of them is read: of the process by the listening socket itself, and of each
 * address (of IPv6, each network) by a count. An address is that of the socket; a forwarded one is known only per
 * request. So trusted proxies are not counted: their connections are those of all their callers together. Readers that
 * leave an answer lying are disconnected, since each keeps buffers, a slot and an upstream.
 */
export function boundConnections(server: Server, deps: ConnectionDeps): void {
  server.maxConnections = deps.config.connectionsMax;
  const connections = new Connections(deps);
  server.on('connection', (socket: Socket) => connections.enter(socket));
  server.on('drop', () => connections.countDropped());
  const timer = setInterval(() => connections.check(), CONNECTIONS_CHECK_MS).unref();
  server.once('close', () => clearInterval(timer));
}

class Connections {
  readonly #deps: ConnectionDeps;
  readonly #isProxy: (address: string) => boolean;
  readonly #open = new Map<Socket, ReaderPace>();
  readonly #ofAddress = new Map<string, number>();
  /** Since the last line about them in the log. */
  readonly #turnedAway = { overAddressCap: 0, overProcessCap: 0 };

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#isProxy = addressList(deps.config.trustedProxies);
  }

  enter(socket: Socket): void {
    const { remoteAddress = '' } = socket;
    if (!this.#isProxy(remoteAddress) && !this.#count(socket, networkOf(remoteAddress))) return;
    this.#open.set(socket, new ReaderPace());
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Whether the connection may stay. The first few above the cap are told why; a flood of them is reset. */
  #count(socket: Socket, network: string): boolean {
    const count = this.#ofAddress.get(network) ?? 0;
    const excess = count + 1 - this.#deps.config.connectionsPerAddressMax;
    if (excess > 0) this.#turnedAway.overAddressCap++;
    if (excess > REFUSED_CONNECTIONS_PER_ADDRESS_MAX) {
      socket.resetAndDestroy();
      return false;
    }
    this.#ofAddress.set(network, count + 1);
    socket.once('close', () => this.#leave(network));
    if (excess > 0) refuseSocket(socket, 'too_many_concurrent_requests');
    return excess <= 0;
  }

  #leave(network: string): void {
    const count = (this.#ofAddress.get(network) ?? 1) - 1;
    if (count === 0) this.#ofAddress.delete(network);
    else this.#ofAddress.set(network, count);
  }

  countDropped(): void {
    this.#turnedAway.overProcessCap++;
  }

  check(): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const [socket, pace] of this.#open) {
      if (pace.isTooSlow(nowMs, socket.bytesWritten - socket.writableLength, socket.writableLength)) socket.destroy();
    }
    const { overAddressCap, overProcessCap } = this.#turnedAway;
    if (overAddressCap + overProcessCap === 0) return;
    const fields = { over_address_cap: overAddressCap, over_process_cap: overProcessCap, open: this.#open.size };
    this.#deps.log.warn(fields, 'connections were turned away');
    Object.assign(this.#turnedAway, { overAddressCap: 0, overProcessCap: 0 });
  }
}

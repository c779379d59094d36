import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports of this machine that no server listens on. All are reserved until all are known, so that none is returned twice. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports: number[] = [];
  for (const server of servers) {
    if (!server.listening) await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') ports.push(address.port);
  }
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

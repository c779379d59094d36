import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { UpstreamError } from '../../errors.ts';
import { UPSTREAM_CONNECT_TIMEOUT_MS } from '../../limits.ts';
import type { Upstream } from './http.ts';

/** Opens a connection to an upstream, with TLS where its address says so, and closes it. Throws UpstreamError. */
export async function connectTo({ address, signal }: Pick<Upstream, 'address' | 'signal'>): Promise<void> {
  const { protocol, hostname, port } = new URL(address);
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const place = { host, port: Number(port) || (isSecure ? 443 : 80) };
  const socket = isSecure ? connectTls({ ...place, servername: host }) : connectPlain(place);
  try {
    await opened(socket, isSecure ? 'secureConnect' : 'connect', signal);
  } finally {
    socket.destroy();
  }
}

function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (error: Error) => reject(error);
    socket.setTimeout(UPSTREAM_CONNECT_TIMEOUT_MS);
    socket.once(event, () => resolve());
    socket.once('timeout', () => giveUp(new UpstreamError('timeout', 'no connection in time', { isUncertain: false })));
    socket.on('error', (error) => giveUp(new UpstreamError('connection', error.message, { cause: error })));
    signal.addEventListener('abort', () => giveUp(new UpstreamError('timeout', 'no connection in time')), {
      once: true,
    });
  });
}

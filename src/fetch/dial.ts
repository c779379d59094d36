import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as secure } from 'node:tls';
import { FETCH_ADDRESSES_MAX } from '../limits.ts';
import { isAmong } from './addresses.ts';
import { hostOf, portOf, refusal } from './policy.ts';

/** A connection to one of these addresses and to no other, secured under the URL's name if it is https. */
export async function dial(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const plain = connect({
    host: hostOf(url),
    port: portOf(url),
    lookup: fixedLookup(addresses.slice(0, FETCH_ADDRESSES_MAX)),
    autoSelectFamily: true,
    noDelay: true,
  });
  await established(plain, 'connect', signal);
  if (!isAmong(plain.remoteAddress ?? '', addresses)) {
    plain.destroy();
    throw refusal('the connection led to another address');
  }
  if (url.protocol === 'http:') return plain;
  const host = hostOf(url);
  const servername = isIP(host) === 0 ? host : '';
  const socket = secure({ socket: plain, host, servername, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true });
  return established(socket, 'secureConnect', signal);
}

/** In place of a lookup: a name resolved for a second time could give what was never judged. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, answers);
}

async function established(socket: Socket, event: string, signal: AbortSignal): Promise<Socket> {
  // An error event without a listener ends the process; between two owners of the socket this is the listener.
  socket.on('error', () => undefined);
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

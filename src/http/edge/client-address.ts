import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The address that a request came from, as far as it can be believed. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The socket's address, unless that is a trusted proxy: then X-Forwarded-For is read from the right, past every
 * trusted proxy, to the first address that no trusted machine vouches for.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return (request) => request.socket.remoteAddress ?? '';
  const isTrusted = addressList(trustedProxies);
  return (request) => {
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',');
    let address = request.socket.remoteAddress ?? '';
    while (hops.length > 0 && isTrusted(address)) {
      const hop = hops.pop()?.trim() ?? '';
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
}

/** Whether an address is one of these or in one of these ranges. */
export function addressList(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

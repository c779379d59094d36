import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConfigDocument, ConfigUpstream } from '../configuration/index.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';

const CONNECT_MS_MAX = 5_000;

/** Opens a connection to each enabled upstream, TLS included, and sends nothing: no request, no key, no cost. */
export async function checkUpstreams({ upstreams }: ConfigDocument): Promise<readonly Finding[]> {
  const enabled = upstreams.filter((upstream) => upstream.enabled);
  if (enabled.length === 0) return [ok('upstreams', 'none is enabled')];
  return Promise.all(enabled.map(checkUpstream));
}

async function checkUpstream({ id, base_url }: ConfigUpstream): Promise<Finding> {
  const check = `upstream ${id}`;
  if (base_url === undefined) return ok(check, 'needs no connection');
  const { protocol, hostname, port, origin } = new URL(base_url);
  const isTls = protocol === 'https:';
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isTls ? 443 : 80)) };
  try {
    await connect(address, isTls);
    return ok(check, `${origin} answers`);
  } catch (error) {
    const advice = 'Check base_url, the network and a firewall; DNS and certificates for what the reason names.';
    return problem(check, `${origin} cannot be reached: ${reasonOf(error)}`, advice);
  }
}

function connect({ host, port }: { host: string; port: number }, isTls: boolean): Promise<void> {
  const socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(isTls ? 'secureConnect' : 'connect', resolve);
  socket.once('error', reject);
  socket.setTimeout(CONNECT_MS_MAX, () => reject(new Error(`no answer within ${CONNECT_MS_MAX / 1000} seconds`)));
  return promise.finally(() => socket.destroy());
}

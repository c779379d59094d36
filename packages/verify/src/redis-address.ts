import type { NetConnectOpts } from 'node:net';

const REDIS_PORT = 6379;

/** Where a proxy leads; undefined for TLS, Sentinel and Cluster, which name their servers themselves. */
export function redisTarget(url: string): NetConnectOpts | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port, searchParams } = new URL(url);
  const isPlain = protocol === 'redis:' || protocol === 'valkey:';
  if (!isPlain || hostname === '' || searchParams.size > 0) return undefined;
  return { host: hostname, port: Number(port || REDIS_PORT) };
}

export function withRedisProxy(url: string, port: number): string {
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${port}`;
  return proxied.href;
}

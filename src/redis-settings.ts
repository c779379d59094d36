import { Secret, type Settings } from './settings.ts';

/** Where limits are counted for all processes of the deployment. */
export interface RedisSettings {
  readonly address: RedisAddress;
  /** While Redis is away: each process takes its share of every limit, or requests are refused. */
  readonly whenAway: (typeof WHEN_AWAY)[number];
}

export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** The server, the sentinels, or some nodes of the cluster. */
  readonly nodes: readonly RedisNode[];
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
  readonly database: number;
  /** What the sentinels call the servers that they watch. */
  readonly masterName: string | undefined;
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: Secret | undefined;
  /** Every key begins with it and a colon, so that deployments can share a server. */
  readonly prefix: string;
}

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

const WHEN_AWAY = ['local', 'fail'] as const;
const NAME = 'TOLLGATE_LIMITS_WITHOUT_REDIS';

export function redisSettings(settings: Settings): RedisSettings | undefined {
  const url = settings.secret('REDIS_URL');
  const isChosen = settings.optional(NAME) !== undefined;
  const whenAway = settings.choice(NAME, 'local', WHEN_AWAY);
  if (url === undefined) {
    if (isChosen) settings.complain(NAME, 'does nothing without REDIS_URL');
    return undefined;
  }
  const address = parseRedisUrl(url.reveal());
  if (address !== undefined) return { address, whenAway };
  settings.complain(
    'REDIS_URL',
    'must be an address such as redis://:password@host:6379/0, redis+sentinel://:password@host:26379,host:26379/mymaster or redis+cluster://:password@host:6379,host:6379',
  );
  return undefined;
}

const URL_PARTS =
  /^(?:redis|valkey)(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<nodes>[^/?#@]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const PARAMETERS = new Set(['prefix', 'sentinel_username', 'sentinel_password']);

/**
 * `redis://[user:password@]host[:6379][/database]`, `redis+sentinel://…@host[:26379],…/name[/database]`,
 * `redis+cluster://…@host[:6379],…`; `rediss` is with TLS, `valkey` the same as `redis`. Undefined when it is none of these.
 */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  const parts = URL_PARTS.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const kind = parts.kind === 'sentinel' || parts.kind === 'cluster' ? parts.kind : 'single';
  const nodes = (parts.nodes ?? '').split(',').map((node) => parseNode(node, kind === 'sentinel' ? 26_379 : 6_379));
  const place = parsePath(kind, parts.path ?? '');
  const query = new URLSearchParams(parts.query ?? '');
  const prefix = query.get('prefix') ?? 'tollgate';
  const user = decode(parts.user);
  const password = decode(parts.password);
  const isValid =
    nodes.every((node) => node !== undefined) &&
    (kind !== 'single' || nodes.length === 1) &&
    [...query.keys()].every((name) => PARAMETERS.has(name)) &&
    /^[A-Za-z0-9_.:-]{1,64}$/.test(prefix);
  if (!isValid || place === undefined || user === undefined || password === undefined) return undefined;
  return {
    kind,
    nodes: nodes.filter((node) => node !== undefined),
    tls: parts.tls === 's',
    username: user === '' ? undefined : user,
    password: secretOf(password),
    ...place,
    sentinelUsername: query.get('sentinel_username') ?? undefined,
    sentinelPassword: secretOf(query.get('sentinel_password')),
    prefix,
  };
}

function parseNode(text: string, portByDefault: number): RedisNode | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? portByDefault);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** Sentinel: the name, then perhaps the database. Single: perhaps the database. Cluster: nothing, it has but one. */
function parsePath(
  kind: RedisAddress['kind'],
  path: string,
): Pick<RedisAddress, 'database' | 'masterName'> | undefined {
  const [, masterName, number = '0'] =
    (kind === 'sentinel' ? /^([A-Za-z0-9_.-]+)(?:\/(\d{1,5}))?\/?$/ : /^()(\d{1,5})?\/?$/).exec(path) ?? [];
  if (masterName === undefined || (kind === 'cluster' && Number(number) !== 0)) return undefined;
  return { database: Number(number), masterName: masterName === '' ? undefined : masterName };
}

function decode(text = ''): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function secretOf(text: string | null): Secret | undefined {
  return text === null || text === '' ? undefined : new Secret(text);
}

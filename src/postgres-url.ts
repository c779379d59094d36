/** libpq's `target_session_attrs`: which of several servers a connection may be made to. */
const SESSION_ATTRS = ['any', 'read-write', 'primary', 'read-only', 'standby', 'prefer-standby'] as const;
export type SessionAttrs = (typeof SESSION_ATTRS)[number];

export interface PostgresUrl {
  /** In the order in which they are preferred; at least one. */
  readonly servers: readonly PostgresServer[];
  /** Undefined where the address does not say. */
  readonly sessionAttrs: SessionAttrs | undefined;
}

export interface PostgresServer {
  /** For logs: host and port, never a password. */
  readonly name: string;
  /** The address with this server alone. */
  readonly url: string;
}

/** What is wrong with an address, as the end of a sentence that begins with the setting's name. Holds no secret. */
class PostgresUrlError extends Error {}

const SERVERS_MAX = 16;
const DEFAULT_PORT = '5432';
const EXPECTED = 'must be an address such as postgres://user:password@host:5432/tollgate';
/** Scheme, credentials, hosts, path, parameters. A password must have its reserved characters encoded. */
const SHAPE = /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const PLACE = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::(\d*))?$/;

/**
 * libpq's syntax for one server or several: `postgres://user@h1:5432,h2:5433/db?target_session_attrs=read-write`, or
 * lists in the parameters `host` and `port`. The driver reads one host; each server gets an address of its own.
 */
export function parsePostgresUrl(text: string): PostgresUrl {
  const single = singleServer(text);
  if (single !== undefined) return single;
  const [, scheme, credentials = '', authority = '', path = '', query = ''] = SHAPE.exec(text) ?? [];
  if (scheme === undefined) throw new PostgresUrlError(EXPECTED);
  const parameters = new URLSearchParams(query);
  const sessionAttrs = sessionAttrsOf(parameters);
  if ((parameters.get('load_balance_hosts') ?? 'disable') !== 'disable')
    throw new PostgresUrlError('cannot have load_balance_hosts: all connections of a process go to one server');
  for (const name of ['target_session_attrs', 'load_balance_hosts']) parameters.delete(name);
  const [hosts, ports] = [listOf(parameters, 'host'), listOf(parameters, 'port')];
  const places = hosts.length > 0 ? placesOf(hosts, ports) : authority.split(',').map(hostAndPort);
  if (places.length > SERVERS_MAX) throw new PostgresUrlError(`must name at most ${SERVERS_MAX} hosts`);
  const servers = places.map(({ host, port }) => {
    const own = new URLSearchParams(parameters);
    if (hosts.length > 0) own.set('host', host);
    if (hosts.length > 0 || ports.length > 0) own.set('port', port);
    const place = hosts.length > 0 ? 'localhost' : `${host}:${port}`;
    const url = `${scheme}${credentials}${place}${path}${own.size === 0 ? '' : `?${own.toString()}`}`;
    if (!URL.canParse(url)) throw new PostgresUrlError(EXPECTED);
    return { name: nameOf(host, port), url };
  });
  return { servers, sessionAttrs };
}

/** Why an address cannot be that of the database, which takes writes; undefined where it can. */
export function databaseUrlProblem(text: string): string | undefined {
  const problem = postgresUrlProblem(text);
  if (problem !== undefined) return problem;
  const { sessionAttrs = 'any' } = parsePostgresUrl(text);
  if (['any', 'read-write', 'primary'].includes(sessionAttrs)) return undefined;
  return `cannot have target_session_attrs=${sessionAttrs}: the gateway writes, and needs read-write or primary`;
}

/** What is wrong with an address. */
export function postgresUrlProblem(text: string): string | undefined {
  try {
    parsePostgresUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof PostgresUrlError) return error.message;
    throw error;
  }
}

/** An address that the driver reads as it stands, with whatever it alone understands. */
function singleServer(text: string): PostgresUrl | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, searchParams } = new URL(text);
  const host = searchParams.get('host') ?? hostname;
  if (!/^postgres(ql)?:$/.test(protocol) || host.includes(',') || searchParams.get('port')?.includes(','))
    return undefined;
  const name = nameOf(host, searchParams.get('port') ?? port);
  return { servers: [{ name, url: text }], sessionAttrs: sessionAttrsOf(searchParams) };
}

/** The folder of a Unix socket stands encoded in an address. */
function nameOf(host: string, port: string): string {
  return `${host.replaceAll(/%2f/gi, '/')}:${port === '' ? DEFAULT_PORT : port}`;
}

function sessionAttrsOf(parameters: URLSearchParams): SessionAttrs | undefined {
  const word = parameters.get('target_session_attrs');
  if (word === null) return undefined;
  const attrs = SESSION_ATTRS.find((known) => known === word);
  if (attrs !== undefined) return attrs;
  throw new PostgresUrlError(
    `has target_session_attrs=${JSON.stringify(word.slice(0, 50))}, which must be one of ${SESSION_ATTRS.join(', ')}`,
  );
}

function listOf(parameters: URLSearchParams, name: string): readonly string[] {
  return parameters.get(name)?.split(',') ?? [];
}

interface Place {
  readonly host: string;
  readonly port: string;
}

function hostAndPort(text: string): Place {
  const [, host, port] = PLACE.exec(text) ?? [];
  if (host === undefined || host === '') throw new PostgresUrlError(EXPECTED);
  return { host, port: checkedPort(port) };
}

/** As libpq has it: one port for all hosts, or one for each. */
function placesOf(hosts: readonly string[], ports: readonly string[]): Place[] {
  if (hosts.some((host) => host === '') || (ports.length > 1 && ports.length !== hosts.length))
    throw new PostgresUrlError('must have as many ports as hosts, or one for all');
  return hosts.map((host, index) => ({ host, port: checkedPort(ports.length > 1 ? ports[index] : ports[0]) }));
}

function checkedPort(port: string | undefined): string {
  const text = port === undefined || port === '' ? DEFAULT_PORT : port;
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return text;
  throw new PostgresUrlError('must have ports from 1 to 65535');
}

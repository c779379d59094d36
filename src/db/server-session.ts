import pg from 'pg';
import {
  DB_CONNECT_TIMEOUT_MS,
  DB_LOCK_TIMEOUT_MS,
  DB_STATEMENT_TIMEOUT_MS,
  DB_TRANSACTION_IDLE_MS_MAX,
} from '../limits.ts';
import type { PostgresServer, SessionAttrs } from '../postgres-url.ts';
import { UnsuitableServer } from './errors.ts';

/** A server of the deployment: an address of an operator's, or the embedded server's socket. */
export type Server =
  | PostgresServer
  | {
      readonly name: string;
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
    };

/** A limit of its own for one statement, by the client; the driver's types do not know it. */
export type TimedQuery = pg.QueryConfig & { readonly query_timeout: number | undefined };

/** What a server says of itself when a session begins. */
export interface ServerState {
  readonly isStandby: boolean;
  /** Of a standby always, else where an operator has set it so. */
  readonly isReadOnly: boolean;
  /** Grows by one with each promotion; 0 of a standby. */
  readonly timeline: number;
  /** The same on a primary and all its replicas. */
  readonly systemId: string;
}

/** What a session may take. */
export interface SessionLimits {
  readonly connectMs: number;
  /** Of each statement; a transaction may raise it for itself. */
  readonly statementMs: number;
}

export const SESSION_LIMITS: SessionLimits = {
  connectMs: DB_CONNECT_TIMEOUT_MS,
  statementMs: DB_STATEMENT_TIMEOUT_MS,
};

/** The server's own limit comes first; the client's is for a server that has stopped answering at all. */
export function clientLimitMs(statementMs: number): number {
  return statementMs + 1_000;
}

export function clientOptions(server: Server, { connectMs, statementMs }: SessionLimits): pg.ClientConfig {
  const { name: _name, ...place } = server;
  return {
    ...('url' in place ? { connectionString: place.url } : place),
    connectionTimeoutMillis: connectMs,
    query_timeout: clientLimitMs(statementMs),
    keepAlive: true,
    application_name: 'tollgate',
    types: { getTypeParser },
  };
}

const INT8_OID = 20;

/** Amounts are int8 and must never pass through a double. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
  return oid === INT8_OID ? BigInt : pg.types.getTypeParser(oid, format);
}

// By a statement, not as parameters of the start-up message, which a pooler in between refuses or swallows.
function settingsOf({ statementMs }: SessionLimits): readonly string[] {
  const limits = {
    statement_timeout: statementMs,
    lock_timeout: DB_LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: DB_TRANSACTION_IDLE_MS_MAX,
  };
  return Object.entries(limits).map(([name, ms]) => `set_config('${name}', '${ms}', false)`);
}

const STATE = [
  'pg_is_in_recovery() as "isStandby"',
  `current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  // The name of a WAL file begins with its timeline. The control file has it too, but only from the next checkpoint on.
  `case when pg_is_in_recovery() then 0
     else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`,
  `(select system_identifier::text from pg_control_system()) as "systemId"`,
];

/** Begins a session in one round trip: limits of time, and what the server is, where that matters. */
export async function prepareSession(client: pg.ClientBase, limits: SessionLimits): Promise<void> {
  await withinDeadline(client, `select ${settingsOf(limits).join(', ')}`, limits);
}

export async function prepareAndInspect(client: pg.ClientBase, limits: SessionLimits): Promise<ServerState> {
  const { rows } = await withinDeadline(client, `select ${[...settingsOf(limits), ...STATE].join(', ')}`, limits);
  return rows[0] as ServerState;
}

/** A server that takes a connection may say nothing more; a pooler that takes one may have to make one of its own first. */
async function withinDeadline(
  client: pg.ClientBase,
  text: string,
  { connectMs }: SessionLimits,
): Promise<pg.QueryResult> {
  const config: TimedQuery = { text, query_timeout: 2 * connectMs };
  return client.query(config);
}

/** Opens a connection, looks and closes it. */
export async function inspect(server: Server, limits: SessionLimits): Promise<ServerState> {
  const client = new pg.Client(clientOptions(server, limits));
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await prepareAndInspect(client, limits);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** The lower the better; undefined is unsuitable. */
export function rankOf(state: ServerState, attrs: SessionAttrs): number | undefined {
  switch (attrs) {
    case 'any':
      return 0;
    case 'read-write':
      return state.isReadOnly ? undefined : 0;
    case 'primary':
      return state.isStandby ? undefined : 0;
    case 'read-only':
      return state.isReadOnly ? 0 : undefined;
    case 'standby':
      return state.isStandby ? 0 : undefined;
    case 'prefer-standby':
      return state.isStandby ? 0 : 1;
  }
}

export function unsuitable({ name }: Server, state: ServerState): UnsuitableServer {
  const what = state.isStandby ? 'a standby' : state.isReadOnly ? 'read-only' : 'a primary that takes writes';
  return new UnsuitableServer(`${name} is ${what}`);
}

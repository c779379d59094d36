import type pg from 'pg';
import type { Logger } from '../log.ts';
import { parsePostgresUrl } from '../postgres-url.ts';
import { isDeadlock, isDemotion, isShutdown, translated } from './errors.ts';
import type { PoolFigures } from './server-pool.ts';
import { clientLimitMs, SESSION_LIMITS, type SessionLimits, type TimedQuery } from './server-session.ts';
import { type ServerFigures, Servers, type ServersOptions } from './servers.ts';

/** Where the database is: an address, which may name several servers, or the embedded server's socket. */
export type DbAddress =
  /** `isReplica`: of several servers a standby is preferred. */
  | { readonly url: string; readonly isReplica?: boolean }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

/**
 * What both a database and a transaction can do. Statements are constant texts with `$1` parameters. Outside a transaction a
 * statement that a deadlock ended is run again.
 */
export interface Queries {
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement for its effect and returns how many rows it touched. */
  run(statement: string, values?: readonly unknown[]): Promise<number>;
}

/** An open transaction. Only `Db.transaction` makes one, so a function that takes it cannot run outside. */
export interface Tx extends Queries {
  readonly inTransaction: true;
  /** Runs a text of several statements, as migrations are. */
  script(text: string): Promise<void>;
  /** How long each statement may take from now on to the end of the transaction, at the server and for this process. */
  limitStatements(ms: number): Promise<void>;
}

export interface Db extends Queries {
  readonly inTransaction?: never;
  /**
   * Commits what `work` did, or rolls it back when it throws. May run `work` again after a deadlock, so it must do
   * nothing but database work.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** The whole of it: `Db` for those who write statements, the rest for the bus and for whom it is reported to. */
export interface PooledDb extends Db {
  /** A connection outside the pool, on the server that the pool uses. The caller ends it. */
  openConnection(queryTimeoutMs: number): Promise<pg.Client>;
  /** Called when another server is in use from now on. */
  onMoved(listener: () => void): void;
  /** What an operator should know of the servers. */
  readonly warnings: readonly string[];
  readonly pool: PoolFigures;
  readonly servers: ServerFigures;
}

const DEADLOCK_ATTEMPTS_MAX = 4;

export function openDb(address: DbAddress, log: Logger, limits: Partial<SessionLimits> = {}): PooledDb {
  const servers = new Servers({ ...serversAt(address), log, limits: { ...SESSION_LIMITS, ...limits } });
  return {
    rows: (statement, values) => deadlockFree(() => onSession(servers, (client) => rowsOn(client, statement, values))),
    run: (statement, values) => deadlockFree(() => onSession(servers, (client) => runOn(client, statement, values))),
    transaction: (work) => deadlockFree(() => transactionOnce(servers, work)),
    openConnection: (queryTimeoutMs) => translated(() => servers.open(queryTimeoutMs)),
    onMoved: (listener) => servers.onMoved(listener),
    get warnings() {
      return servers.warnings;
    },
    get pool() {
      return servers.poolFigures;
    },
    get servers() {
      return servers.figures;
    },
    close: () => servers.close(),
  };
}

/** Of several servers it must be one that takes writes, unless the address says otherwise. */
function serversAt(address: DbAddress): Pick<ServersOptions, 'servers' | 'sessionAttrs'> {
  if (!('url' in address)) return { servers: [{ name: 'embedded', ...address }], sessionAttrs: 'any' };
  const { servers, sessionAttrs } = parsePostgresUrl(address.url);
  const preferred = address.isReplica === true ? 'prefer-standby' : 'read-write';
  return { servers, sessionAttrs: sessionAttrs ?? (servers.length > 1 ? preferred : 'any') };
}

/** As the pool of the driver has it: after any error the connection is closed. */
async function onSession<Result>(servers: Servers, work: (client: Connection) => Promise<Result>): Promise<Result> {
  const { client, release } = await servers.connect();
  try {
    const result = await work(client);
    release();
    return result;
  } catch (error) {
    release(errorOf(error));
    throw error;
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

interface Connection {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

async function rowsOn<Row>(connection: Connection, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const result = await connection.query({ name: statementName(text), text, values: [...values] });
  return result.rows as Row[];
}

async function runOn(connection: Connection, text: string, values: readonly unknown[] = []): Promise<number> {
  const result = await connection.query({ name: statementName(text), text, values: [...values] });
  return result.rowCount ?? 0;
}

// Every statement is a constant of the program, so each is prepared once per connection under a short name.
const names = new Map<string, string>();

function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `s${names.size}`;
    names.set(text, name);
  }
  return name;
}

/** What a deadlock ended was rolled back, so it is run again; with others at it, each must at last get through. */
async function deadlockFree<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await translated(work);
    } catch (error) {
      if (attempt === DEADLOCK_ATTEMPTS_MAX || !isDeadlock(error)) throw error;
    }
  }
}

async function transactionOnce<Result>(servers: Servers, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const { client, release } = await servers.connect();
  let timeoutMs: number | undefined;
  const timed = {
    query: (config: pg.QueryConfig): Promise<pg.QueryResult> => {
      const limited: TimedQuery = { ...config, query_timeout: timeoutMs };
      return client.query(limited);
    },
  };
  let broken: Error | undefined;
  try {
    await timed.query({ text: 'begin' });
    const result = await work({
      inTransaction: true,
      rows: (statement, values) => rowsOn(timed, statement, values),
      run: (statement, values) => runOn(timed, statement, values),
      script: async (text) => {
        await timed.query({ text });
      },
      limitStatements: async (ms) => {
        await runOn(timed, `select set_config('statement_timeout', $1, true)`, [String(ms)]);
        timeoutMs = clientLimitMs(ms);
      },
    });
    await timed.query({ text: 'commit' });
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    if (isDemotion(error) || isShutdown(error)) broken = errorOf(error);
    throw error;
  } finally {
    release(broken);
  }
}

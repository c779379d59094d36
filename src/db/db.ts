import pg from 'pg';
import {
  DB_CONNECT_TIMEOUT_MS,
  DB_LOCK_TIMEOUT_MS,
  DB_STATEMENT_TIMEOUT_MS,
  DB_TRANSACTION_IDLE_MS_MAX,
} from '../limits.ts';
import type { Logger } from '../log.ts';
import { isDeadlock, translated } from './errors.ts';

/** Where the database is: one address, or the embedded server's socket. */
export type DbAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

/** What both a database and a transaction can do. Statements are constant texts with `$1` parameters. */
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

const POOL_CONNECTIONS_MAX = 16;
const DEADLOCK_ATTEMPTS_MAX = 4;

export function openDb(address: DbAddress, log: Logger, connectTimeoutMs?: number): Db {
  const pool = new pg.Pool({
    ...clientOptions(address, connectTimeoutMs),
    max: POOL_CONNECTIONS_MAX,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  let closed = false;
  // Without a listener the loss of a connection would end the process. The pool itself listens to idle ones only; a
  // connection lost in use is noticed by the statement that runs on it, or by the next.
  pool.on('error', (error) => {
    if (!closed) log.warn({ reason: error.message }, 'an idle database connection was lost');
  });
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    rows: (statement, values) => translated(() => rowsOn(pool, statement, values)),
    run: (statement, values) => translated(() => runOn(pool, statement, values)),
    transaction: (work) => transactionOn(pool, work),
    close: async () => {
      closed = true;
      await pool.end();
    },
  };
}

/** Also used by the listener, whose connection lives outside the pool. */
export function clientOptions(address: DbAddress, connectTimeoutMs: number = DB_CONNECT_TIMEOUT_MS): pg.ClientConfig {
  return {
    ...('url' in address ? { connectionString: address.url } : address),
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: DB_STATEMENT_TIMEOUT_MS,
    lock_timeout: DB_LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: DB_TRANSACTION_IDLE_MS_MAX,
    // The server's own limit comes first; this one is for a server that has stopped answering at all.
    query_timeout: DB_STATEMENT_TIMEOUT_MS + 1_000,
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

async function transactionOn<Result>(pool: pg.Pool, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await translated(() => transactionOnce(pool, work));
    } catch (error) {
      if (attempt === DEADLOCK_ATTEMPTS_MAX || !isDeadlock(error)) throw error;
    }
  }
}

async function transactionOnce<Result>(pool: pg.Pool, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work({
      inTransaction: true,
      rows: (statement, values) => rowsOn(client, statement, values),
      run: (statement, values) => runOn(client, statement, values),
      script: async (text) => {
        await client.query(text);
      },
    });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

import type pg from 'pg';
import { DB_STATEMENT_TIMEOUT_MS } from '../limits.ts';
import { StartError } from '../start-error.ts';
import type { PooledDb } from './db.ts';

/** One is enough where nothing else uses the pooler; under contention a session may come back to its client by chance. */
const ROUNDS = 20;

/**
 * Throws StartError where a pooler in between (PgBouncer in transaction or statement mode) gives a session of the server
 * to another client after each transaction. Two connections look at which session they have while one of them keeps
 * its own busy with a transaction; with a pooler in session mode both keep theirs for ever.
 */
export async function refuseSharedSessions(db: PooledDb): Promise<void> {
  const clients: pg.Client[] = [];
  const open = async () => {
    const client = await db.openConnection(DB_STATEMENT_TIMEOUT_MS);
    clients.push(client);
    return client;
  };
  try {
    const one = await open();
    if (await isDirect(one)) return;
    const other = await open();
    for (let round = 0; round < ROUNDS; round++) await compareSessions(one, other);
  } finally {
    for (const client of clients) client.end().catch(() => undefined);
  }
}

/** PostgreSQL begins each connection with the number of its process; a pooler makes one up, by which it is asked to cancel. */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return 'processID' in client && client.processID === rows[0]?.pid;
}

async function compareSessions(one: pg.Client, other: pg.Client): Promise<void> {
  const before = await sessionOf(one);
  await begin(other);
  // A pooler gives the session that became free last.
  const isShared = (await sessionOf(other)) === before || (await sessionOf(one)) !== before;
  await other.query('rollback');
  if (isShared) throw refusal('transaction');
}

async function begin(client: pg.Client): Promise<void> {
  try {
    await client.query('begin');
  } catch (error) {
    // PgBouncer's own words; PostgreSQL has none such.
    if (error instanceof Error && /statement pooling mode/.test(error.message)) throw refusal('statement');
    throw error;
  }
}

/** Its number may be another session's on another server, or a moment later. */
async function sessionOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ session: string }>(
    `select pid || ' ' || backend_start as session from pg_stat_activity where pid = pg_backend_pid()`,
  );
  return rows[0]?.session ?? '';
}

function refusal(mode: 'transaction' | 'statement'): StartError {
  return new StartError(
    `DATABASE_URL leads to a connection pooler in ${mode} mode, which shares the sessions of the server. Tollgate needs ` +
      'its own: it hears of changes by LISTEN, prepares its statements once for each session, and limits their time by ' +
      "settings of the session. Set the pooler to session mode (PgBouncer: pool_mode = session), or name PostgreSQL's own address.",
  );
}

import { Socket } from 'node:net';
import { Client, DatabaseError } from 'pg';
import { CONNECT_TIMEOUT_MS, DATABASE, PORT, SUPERUSER } from './settings.ts';

/** What a server says when it is asked by connecting, the only way to know that it is there. */
export type Answer =
  | { readonly state: 'ready'; readonly watch: Watch }
  /** It is starting, recovering or shutting down. */
  | { readonly state: 'busy'; readonly reason: string }
  | { readonly state: 'broken'; readonly reason: string }
  | { readonly state: 'silent' };

/** An open connection: it ends when the server dies, and at once, also when another process started the server. */
export interface Watch {
  readonly ended: Promise<void>;
  /** Takes the server for this gateway, as long as the connection lasts. False if another gateway has it. */
  claim(): Promise<boolean>;
  close(): void;
}

export async function ask(socketFolder: string): Promise<Answer> {
  const socket = new Socket();
  const client = new Client({
    host: socketFolder,
    port: PORT,
    user: SUPERUSER,
    database: DATABASE,
    ssl: false,
    application_name: 'tollgate watch',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    stream: () => socket,
  });
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', () => socket.destroy());
  try {
    await client.connect();
    await client.query('select 1');
  } catch (error) {
    socket.destroy();
    return explain(error);
  }
  socket.unref();
  return { state: 'ready', watch: { ended, claim: () => claim(client), close: () => void socket.destroy() } };
}

// Any constant will do; the lock goes with the connection, so a gateway that is killed gives it back.
const CLAIM_LOCK = 7_055_002;

async function claim(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ ours: boolean }>('select pg_try_advisory_lock($1) as ours', [CLAIM_LOCK]);
  return rows[0]?.ours === true;
}

/** Classes of PostgreSQL's error codes that a server says of itself while it comes up or goes down. */
const PASSING_CODES: readonly string[] = ['57P01', '57P02', '57P03', '53300'];

export function explain(error: unknown): Answer {
  if (!(error instanceof DatabaseError)) return { state: 'silent' };
  const reason = error.message;
  return PASSING_CODES.includes(error.code ?? '') ? { state: 'busy', reason } : { state: 'broken', reason };
}

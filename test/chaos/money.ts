// Kills a busy gateway at random, over and over. After each kill, once the dead process's leases have run out, no
// reservation may be open, the books must balance, and every call whose end was told must stand in them at what was told.
// `npm run chaos:money -- --kills 50`.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { request } from 'undici';
import { openDb } from '../../src/db/index.ts';
import { RESERVATION_LEASE_MS } from '../../src/limits.ts';
import type { Told } from './money-process.ts';

const ADMIN_TOKEN = 'admin-token-of-the-chaos';
const ACCOUNTS = 8;
const DUTY_TURNS_MAX = 10;
const LIFE_MS_MAX = 1_500;

const { values } = parseArgs({ options: { kills: { type: 'string', default: '50' } } });
const folder = await mkdtemp(join(tmpdir(), 'tollgate-chaos-'));
const log = pino({ level: 'warn' });
const postgres = await startEmbeddedPostgres({ folder, log, progress: () => undefined });
const { host, port, user, database } = postgres.connection;
const environment = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
  PORT: '0',
  DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
  TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  TOLLGATE_SECRET: 'root-secret-of-the-chaos-0123456789abcdef',
  TOLLGATE_TEST_CLOCK: '1',
  TOLLGATE_DATA: join(folder, 'gateway'),
};
let running: Running | undefined;
let accounts: string[] = [];
let left = 0;
let told = 0;
try {
  accounts = await makeAccounts();
  for (let kill = 1; kill <= Number(values.kills); kill++) await killOnce(kill);
  const entries = await admin<{ entries: number }>(await reader(), 'GET', '/books?full=1');
  console.log(
    `${values.kills} kills, ${left} reservations left by the dead and ended, ${told} calls told of, ${entries.entries} entries, 0 failures`,
  );
} finally {
  await stopReader();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

/** One life of a busy gateway, and what must be true after it. */
async function killOnce(kill: number): Promise<void> {
  const { child } = await startGateway(accounts);
  const calls: Told[] = [];
  child.on('message', (message: Told) => calls.push(message));
  await sleep(Math.random() * LIFE_MS_MAX);
  // All that it has said until then is heard.
  const dead = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  child.kill('SIGKILL');
  await dead;
  left += await countOpen();
  const url = await reader();
  const open = await endAbandoned(url);
  const books = await admin<{ balanced: boolean }>(url, 'GET', '/books?full=1');
  const wrong = await countWrong(calls);
  told += calls.length;
  if (open > 0 || wrong > 0 || !books.balanced)
    throw new Error(`after kill ${kill}: ${open} open, ${wrong} wrong, ${JSON.stringify(books)}`);
}

/**
 * Lets every lease run out, and returns how many reservations are open still. More than one turn of the duty may be needed:
 * on a busy machine the database goes on with a dead process's last transaction, and the duty leaves locked accounts out.
 */
async function endAbandoned(url: string): Promise<number> {
  let open = 0;
  for (let turn = 1; turn <= DUTY_TURNS_MAX; turn++) {
    await admin(url, 'POST', '/clock', { advance_seconds: RESERVATION_LEASE_MS / 1000 + 1 });
    open = await countOpen();
    if (open === 0) return 0;
    await sleep(turn * 100);
  }
  return open;
}

/** How many of these calls are not in the books, or not at what was told. */
async function countWrong(calls: readonly Told[]): Promise<number> {
  const db = openDb(postgres.connection, log);
  const [row] = await db.rows<{ wrong: number }>(
    `select count(*)::int as wrong from unnest($1::text[], $2::bigint[]) as told (request_id, charged)
     where told.charged is distinct from (
       select sum(e.charged) from reservations r join ledger_entries e on e.reservation_id = r.id
       where r.request_id = told.request_id)`,
    [calls.map(({ requestId }) => requestId), calls.map(({ charged }) => charged)],
  );
  await db.close();
  return row?.wrong ?? 0;
}

async function countOpen(): Promise<number> {
  const db = openDb(postgres.connection, log);
  const [row] = await db.rows<{ open: number }>(`select count(*)::int as open from open_reservations`);
  await db.close();
  return row?.open ?? 0;
}

/** A gateway that is not killed: it ends what the dead left, and is asked. */
async function reader(): Promise<string> {
  running ??= await startGateway([]);
  return running.url;
}

async function stopReader(): Promise<void> {
  running?.child.kill('SIGKILL');
}

async function makeAccounts(): Promise<string[]> {
  const url = await reader();
  const made: string[] = [];
  for (let index = 0; index < ACCOUNTS; index++) {
    const { id } = await admin<{ id: string }>(url, 'POST', '/accounts', { name: `chaos ${index}` });
    await admin(url, 'POST', `/accounts/${id}/grants`, { credits: 10_000_000 });
    made.push(id);
  }
  return made;
}

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startGateway(busyWith: readonly string[]): Promise<Running> {
  const script = fileURLToPath(new URL('./money-process.ts', import.meta.url));
  const child = fork(script, [JSON.stringify(busyWith)], { env: environment });
  const [{ url }] = await Promise.race([once(child, 'message'), once(child, 'exit').then(failed)]);
  return { child, url };
}

function failed(): never {
  throw new Error('a gateway did not start');
}

async function admin<Answer>(url: string, method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
  const answer = await request(`${url}/api/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as Answer;
}

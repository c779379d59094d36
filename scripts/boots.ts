// Starts and ends the embedded server again and again in one folder, to find what fails once in a hundred times. Each
// boot is a process of its own. Every tenth makes a new cluster; every fifth ends by a kill of the server, and every
// seventh by a kill of the process, which leaves the server for the next boot to adopt.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { Client } from 'pg';
import { pino } from 'pino';

const NEW_CLUSTER_EVERY = 10;
const KILL_SERVER_EVERY = 5;
const KILL_PROCESS_EVERY = 7;

interface Booted {
  readonly rows: number;
  readonly ms: number;
}

const { values } = parseArgs({ options: { boots: { type: 'string', default: '20' }, once: { type: 'string' } } });
if (values.once === undefined) await bootMany(Number(values.boots));
else await bootInThisProcess(values.once);

async function bootMany(boots: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-boots-'));
  const durationsMs: number[] = [];
  let failures = 0;
  let rows = 0;
  for (let boot = 1; boot <= boots; boot += 1) {
    try {
      if (boot % NEW_CLUSTER_EVERY === 1) {
        await endLeftOver(folder);
        await rm(join(folder, 'postgres'), { recursive: true, force: true });
        rows = 0;
      }
      rows += 1;
      durationsMs.push(await bootOnce(folder, boot, rows));
    } catch (error) {
      failures += 1;
      console.error(`boot ${boot}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  await endLeftOver(folder);
  await rm(folder, { recursive: true, force: true });
  const median = durationsMs.toSorted((a, b) => a - b)[Math.floor(durationsMs.length / 2)] ?? 0;
  console.log(`${boots} boots, ${failures} failures, median ${Math.round(median)} ms`);
  process.exitCode = failures === 0 ? 0 : 1;
}

/** Every boot adds a row, so a row too few is one that was lost. */
async function bootOnce(folder: string, boot: number, rowsExpected: number): Promise<number> {
  const child = fork(import.meta.filename, ['--once', folder]);
  const { rows, ms } = await bootedOf(child);
  if (boot % KILL_SERVER_EVERY === 0) process.kill(await serverPid(folder), 'SIGKILL');
  await end(child, boot % KILL_PROCESS_EVERY === 0 ? 'SIGKILL' : 'SIGTERM');
  if (rows !== rowsExpected) throw new Error(`the table has ${rows} rows, not ${rowsExpected}`);
  return ms;
}

async function bootedOf(child: ChildProcess): Promise<Booted> {
  const failed = once(child, 'exit').then(() => {
    throw new Error('the server did not start');
  });
  failed.catch(() => undefined);
  const [booted] = await Promise.race([once(child, 'message'), failed]);
  return booted;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

async function endLeftOver(folder: string): Promise<void> {
  const child = fork(import.meta.filename, ['--once', folder]);
  await bootedOf(child);
  await end(child, 'SIGTERM');
}

async function serverPid(folder: string): Promise<number> {
  return Number.parseInt(await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

async function bootInThisProcess(folder: string): Promise<void> {
  const begunMs = performance.now();
  const server = await startEmbeddedPostgres({ folder, log: pino({ level: 'silent' }), progress: () => undefined });
  const rows = await addRow(server);
  // The server keeps no process alive; the parent's channel does.
  process.on('message', () => undefined);
  process.on('SIGTERM', () => {
    void server.stop().then(() => process.exit(0));
  });
  process.send?.({ rows, ms: performance.now() - begunMs });
}

async function addRow(server: EmbeddedPostgres): Promise<number> {
  const client = new Client(server.connection);
  await client.connect();
  await client.query('create table if not exists boots (at timestamptz not null)');
  await client.query('insert into boots values (now())');
  const counted = await client.query('select count(*)::int as count from boots');
  await client.end();
  return Number(counted.rows[0]?.count);
}

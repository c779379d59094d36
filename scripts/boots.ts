import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { pino } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/postgres/index.ts';

/**
 * Starts and ends the embedded server again and again in one folder, to find what fails once in a hundred times. Every
 * tenth boot makes a new cluster; every fifth ends by a kill of the server, and every seventh leaves it running for
 * the next boot to adopt.
 */
const NEW_CLUSTER_EVERY = 10;
const KILL_EVERY = 5;
const LEAVE_EVERY = 7;

const { values } = parseArgs({ options: { boots: { type: 'string', default: '20' } } });
const boots = Number(values.boots);
const folder = await mkdtemp(join(tmpdir(), 'tollgate-boots-'));
const log = pino({ level: 'silent' });
const durationsMs: number[] = [];
const left: EmbeddedPostgres[] = [];
let failures = 0;
let rows = 0;

for (let boot = 1; boot <= boots; boot += 1) {
  try {
    await bootOnce(boot);
  } catch (error) {
    failures += 1;
    console.error(`boot ${boot}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
await stopAll();
await rm(folder, { recursive: true, force: true });
const median = durationsMs.toSorted((a, b) => a - b)[Math.floor(durationsMs.length / 2)] ?? 0;
console.log(`${boots} boots, ${failures} failures, median ${Math.round(median)} ms`);
process.exitCode = failures === 0 ? 0 : 1;

async function bootOnce(boot: number): Promise<void> {
  if (boot % NEW_CLUSTER_EVERY === 1) await makeRoom();
  const begunMs = performance.now();
  const progress: string[] = [];
  const server = await startEmbeddedPostgres({ folder, log, progress: (message) => void progress.push(message) });
  left.push(server);
  const count = await countBoots(server);
  durationsMs.push(performance.now() - begunMs);
  rows += 1;
  if (count !== rows) throw new Error(`the table has ${count} rows, not ${rows}: ${progress.join('; ')}`);
  if (boot % LEAVE_EVERY === 0) return;
  if (boot % KILL_EVERY === 0) await killServer();
  await stopAll();
}

async function makeRoom(): Promise<void> {
  await stopAll();
  await rm(join(folder, 'postgres'), { recursive: true, force: true });
  rows = 0;
}

/** The stop that follows comes before any repair, so the next boot finds what a crash leaves. */
async function killServer(): Promise<void> {
  const pid = Number.parseInt(await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  process.kill(pid, 'SIGKILL');
}

/** Also stops the boots before that were left running: each of them watches the same server. */
async function stopAll(): Promise<void> {
  await Promise.all(left.splice(0).map((server) => server.stop()));
}

async function countBoots(server: EmbeddedPostgres): Promise<number> {
  const client = new Client(server.connection);
  await client.connect();
  await client.query('create table if not exists boots (at timestamptz not null)');
  await client.query('insert into boots values (now())');
  const counted = await client.query('select count(*)::int as count from boots');
  await client.end();
  return Number(counted.rows[0]?.count);
}

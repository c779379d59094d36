// Runs the first tier of tests, with --long the campaigns, or the files given by path or by name, on one real PostgreSQL
// server in a temporary folder. Each test file copies its own database from a migrated template. Prints the slowest files
// at the end; --save-order keeps them as the order of the next runs.
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { migrate, openDb } from '../src/db/index.ts';
import { DB_FIRST_CONNECT_TIMEOUT_MS } from '../src/limits.ts';
import { FileTimes, filesNamed, filesOf, saveOrder, slowestFirst } from './test-files.ts';

const TEMPLATE = 'tollgate_template';
// Bounds on a hang. A run that is aborted still says what has passed and which files were running.
const TEST_MS_MAX = 30 * 60_000;
const RUN_MS_MAX = 75 * 60_000;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MEMORY_FOLDER = { path: '/dev/shm', bytesMin: 4 * 1024 ** 3 };
// Keeps stripped and compiled modules between processes: loading the program is half of a small test file's work.
const COMPILE_CACHE = join(ROOT, 'node_modules/.cache/compiled');

const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean', default: false }, 'save-order': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const paths = positionals.length > 0 ? filesNamed(positionals) : filesOf(values.long ? 'long' : 'first');
process.env.TMPDIR = await scratchFolder();
const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
const log = pino({ level: 'warn' });
// Nothing in it outlives the run, and the tests of durability start servers of their own.
const settings = { fsync: 'off', max_connections: '200' };
const server = await startEmbeddedPostgres({ folder, log, progress: () => undefined, settings });
try {
  await makeTemplate();
  process.exitCode = (await runTests(slowestFirst(paths))) ? 0 : 1;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** A file system in memory where there is room in one: hundreds of databases and data folders are made and dropped. */
async function scratchFolder(): Promise<string> {
  const { path, bytesMin } = MEMORY_FOLDER;
  const size = await statfs(path).catch(() => undefined);
  return size !== undefined && size.bavail * size.bsize >= bytesMin ? path : tmpdir();
}

async function makeTemplate(): Promise<void> {
  const postgres = openDb(server.connection, log, { connectMs: DB_FIRST_CONNECT_TIMEOUT_MS });
  await postgres.run(`create database ${TEMPLATE}`);
  await postgres.close();
  const template = openDb({ ...server.connection, database: TEMPLATE }, log, {
    connectMs: DB_FIRST_CONNECT_TIMEOUT_MS,
  });
  await migrate(template, () => undefined);
  await template.close();
}

/** True when every test passed. */
async function runTests(files: readonly string[]): Promise<boolean> {
  const { host, port, user } = server.connection;
  process.env.TEST_POSTGRES = JSON.stringify({ host, port, user, template: TEMPLATE });
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;
  const times = new FileTimes();
  let passed = false;
  const events = run({
    files: files.map((file) => join(ROOT, file)),
    concurrency: filesAtOnce(),
    timeout: TEST_MS_MAX,
    signal: abortSignal(),
  });
  events.on('test:dequeue', ({ name }) => times.begin(name));
  events.on('test:complete', ({ name }) => times.end(name));
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) passed = success;
  });
  for await (const text of events.compose(spec)) process.stdout.write(text);
  console.log(times.show(ROOT));
  if (values['save-order']) saveOrder(times.slowest(ROOT));
  return passed;
}

/** A file of the first tier waits for sockets, disks and timers for a fifth of its time; a campaign has processes of its own. */
function filesAtOnce(): number {
  const isFirstTier = !values.long && positionals.length === 0;
  return availableParallelism() + (isFirstTier ? 1 : 0);
}

/** Fires on a hang and on Ctrl-C, so that the server and its folder go in either case. */
function abortSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return AbortSignal.any([AbortSignal.timeout(RUN_MS_MAX), interrupted.signal]);
}

// Runs every test, or the files given, on one real PostgreSQL server in a temporary folder. Each test file copies its
// own database from a migrated template.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { migrate, openDb } from '../src/db/index.ts';
import { DB_FIRST_CONNECT_TIMEOUT_MS } from '../src/limits.ts';
import { startEmbeddedPostgres } from '../src/postgres/index.ts';

const TEMPLATE = 'tollgate_template';
// A file whose end has failed may leave servers behind that would keep it running, and the whole run with it.
const ALWAYS_ENDS = ['--test-force-exit', `--test-timeout=${20 * 60_000}`];

const files = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
const log = pino({ level: 'warn' });
// Nothing in it outlives the run, and the tests of durability start servers of their own.
const settings = { fsync: 'off', max_connections: '200' };
const server = await startEmbeddedPostgres({ folder, log, progress: () => undefined, settings });
try {
  await makeTemplate();
  process.exitCode = await runTests(files.length > 0 ? files : globSync(['src/**/*.test.ts', 'test/**/*.test.ts']));
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function makeTemplate(): Promise<void> {
  const postgres = openDb(server.connection, log, DB_FIRST_CONNECT_TIMEOUT_MS);
  await postgres.run(`create database ${TEMPLATE}`);
  await postgres.close();
  const template = openDb({ ...server.connection, database: TEMPLATE }, log, DB_FIRST_CONNECT_TIMEOUT_MS);
  await migrate(template, () => undefined);
  await template.close();
}

function runTests(paths: readonly string[]): Promise<number> {
  const { host, port, user } = server.connection;
  const environment = { ...process.env, TEST_POSTGRES: JSON.stringify({ host, port, user, template: TEMPLATE }) };
  const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...ALWAYS_ENDS, ...paths], {
    stdio: 'inherit',
    env: environment,
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

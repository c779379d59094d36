// Runs every test, or the files given, on one real PostgreSQL server in a temporary folder. Each test file copies its
// own database from a migrated template. Tests in test/browser need a browser, and scripts/browser.ts.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { migrate, openDb } from '../src/db/index.ts';
import { DB_FIRST_CONNECT_TIMEOUT_MS } from '../src/limits.ts';

const TEMPLATE = 'tollgate_template';
// Whatever takes longer hangs. Broken off, a run still tells what has passed and which files were running.
const TEST_MS_MAX = 15 * 60_000;
const RUN_MS_MAX = 75 * 60_000;

const files = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
const log = pino({ level: 'warn' });
// Nothing in it outlives the run, and the tests of durability start servers of their own.
const settings = { fsync: 'off', max_connections: '200' };
const server = await startEmbeddedPostgres({ folder, log, progress: () => undefined, settings });
try {
  await makeTemplate();
  process.exitCode = await runTests(files.length > 0 ? files : everyFile());
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

function everyFile(): readonly string[] {
  return globSync(['{src,packages/*/src,test}/**/*.test.ts'], { exclude: ['test/browser/**'] });
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
  const child = spawn(process.execPath, ['--test', '--test-concurrency=2', `--test-timeout=${TEST_MS_MAX}`, ...paths], {
    stdio: 'inherit',
    env: environment,
  });
  setTimeout(() => child.kill('SIGINT'), RUN_MS_MAX).unref();
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

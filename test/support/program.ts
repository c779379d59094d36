import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Environment } from '../../src/config.ts';
import { createDatabase } from './database.ts';
import { BARE_ENVIRONMENT } from './environment.ts';
import { ADMIN_TOKEN, type Answer } from './gateway.ts';
import { WAIT_MS_MAX } from './patience.ts';
import { atEnd } from './postgres.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** V8's, as in the command of `npm start`. */
export const V8_FLAGS = startCommand().filter((word) => word.startsWith('--'));

function startCommand(): readonly string[] {
  const manifest: { scripts: { start: string } } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.scripts.start.split(' ');
}

/** The same without them, which is allowed. */
export const SERVE_WITHOUT_FLAGS: readonly string[] = [process.execPath, MAIN, 'serve'];
export const SERVE: readonly string[] = [process.execPath, ...V8_FLAGS, MAIN, 'serve'];

/** The real program in a process of its own, as an operator runs it. */
export class Program {
  readonly child: ChildProcess;
  #told = '';
  #logged = '';

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#told += chunk.toString();
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#logged += chunk.toString();
    });
  }

  /** Starts with these settings and no others, in an empty folder, and does not wait. */
  static spawn(t: TestContext, settings: Environment, [program = '', ...args] = SERVE): Program {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-program-'));
    atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
    const env = { ...BARE_ENVIRONMENT, PORT: '0', ...settings };
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const spawned = new Program(child);
    atEnd(t, () => spawned.kill('SIGKILL'));
    return spawned;
  }

  /** Resolves once it answers. */
  static async start(t: TestContext, settings: Environment, command = SERVE): Promise<Program> {
    const program = Program.spawn(t, settings, command);
    await program.#until(() => program.told.includes('Ctrl-C stops it') || program.hasEnded);
    assert.ok(!program.hasEnded, program.told);
    return program;
  }

  /** For a start that is to be refused: resolves to what it said, after its end with code 1. */
  static async refusal(t: TestContext, settings: Environment, command = SERVE): Promise<string> {
    const program = Program.spawn(t, settings, command);
    assert.equal(await program.end(), 1, program.told);
    return program.told;
  }

  /** What it has told the person at the terminal. */
  get told(): string {
    return this.#told;
  }

  /** Its log, line by line. */
  get logged(): readonly string[] {
    return this.#logged.split('\n').filter((line) => line !== '');
  }

  get url(): string {
    return /Tollgate answers at (\S+)/.exec(this.#told)?.[1] ?? '';
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async get(path: string, key?: string): Promise<Answer> {
    return this.call('GET', path, { key });
  }

  async call(
    method: string,
    path: string,
    options: { key?: string | undefined; body?: unknown } = {},
  ): Promise<Answer> {
    const { key, body } = options;
    const response = await request(this.url + path, {
      method,
      // A connection of its own each time, so that none is left to an end.
      reset: true,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const json = isJson ? JSON.parse(text) : undefined;
    return { status: response.statusCode, headers: Object.fromEntries(headers), text, json };
  }

  /** Sends a signal and waits for the end. Resolves to the exit code, or null when a signal ended it. */
  async kill(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.end();
  }

  async end(): Promise<number | null> {
    await this.#until(() => this.hasEnded && this.child.stderr?.closed === true && this.child.stdout?.closed === true);
    return this.child.exitCode;
  }

  async #until(isSo: () => boolean): Promise<void> {
    const deadline = performance.now() + WAIT_MS_MAX;
    while (!isSo()) {
      assert.ok(performance.now() < deadline, `waited too long; it said: ${this.#told}`);
      await sleep(10);
    }
  }
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command of the program, run to its end in an empty folder with these settings and no others. */
export async function runCommand(t: TestContext, args: readonly string[], settings: Environment): Promise<Ended> {
  const child = spawnCommand(t, args, settings);
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: child.exitCode ?? (await once(child, 'exit'))[0], out, err };
}

async function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

/** The same, without waiting for its end. */
export function spawnCommand(t: TestContext, args: readonly string[], settings: Environment): ChildProcess {
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-program-'));
  atEnd(t, () => rmSync(cwd, { recursive: true, force: true }));
  const env = { ...BARE_ENVIRONMENT, ...settings };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  atEnd(t, () => child.kill('SIGKILL'));
  return child;
}

/** Settings for a program on a database of its own on the shared server, which starts at once. */
export async function ownDatabase(t: TestContext): Promise<Record<string, string>> {
  const database = await createDatabase();
  atEnd(t, () => database.drop());
  return {
    DATABASE_URL: database.url,
    TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    TOLLGATE_SECRET: 'root-secret-of-the-tests-0123456789abcdef',
  };
}

export function adminToken(dataFolder: string): string {
  return readFileSync(join(dataFolder, 'admin-token'), 'utf8').trim();
}

/** A copy with the same owners. */
export function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to]);
  assert.equal(status, 0, String(stderr));
}

/** A port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import { Commands } from './commands.ts';
import { BARE_ENVIRONMENT } from './environment.ts';
import { ADMIN_TOKEN } from './gateway.ts';
import { atEnd, workFolder } from './postgres.ts';
import { type Ended, freePort, ownDatabase, Program } from './program.ts';

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A shell with the program in it, beside a gateway with the sandbox and an account that has credits. */
export class CommandLine {
  readonly program: Program;
  readonly folder: string;
  /** An account's: address and key. */
  readonly environment: Environment;
  readonly accountId: string;
  readonly #commands: Commands;

  private constructor(t: TestContext, program: Program, accountId: string, key: string) {
    this.program = program;
    this.folder = workFolder(t);
    this.accountId = accountId;
    this.environment = { TOLLGATE_URL: program.url, TOLLGATE_KEY: key, XDG_CONFIG_HOME: this.folder };
    this.#commands = new Commands();
    atEnd(t, () => this.#commands.stop());
  }

  static async start(t: TestContext): Promise<CommandLine> {
    // Links to results carry the port, so it must be known before the start.
    const PORT = String(await freePort());
    const program = await Program.start(t, { ...(await ownDatabase(t)), PORT, TOLLGATE_RPM: '10000' });
    const admin = (path: string, body: object) => program.call('POST', `/api/admin${path}`, { key: ADMIN_TOKEN, body });
    const { id } = (await admin('/accounts', { name: 'Shell' })).json;
    await admin(`/accounts/${id}/grants`, { credits: 1000 });
    const { key } = (await admin(`/accounts/${id}/keys`, { name: 'shell' })).json;
    return new CommandLine(t, program, id, key);
  }

  /** In a process that many commands share. */
  run(args: readonly string[], more: Environment = {}): Promise<Ended> {
    return this.#commands.run(args, this.folder, { ...this.environment, ...more });
  }

  async succeed(args: readonly string[], more: Environment = {}): Promise<string> {
    const { code, out, err } = await this.run(args, more);
    assert.equal(code, 0, out + err);
    return out;
  }

  /** The JSON that a command prints. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async json(args: readonly string[], more: Environment = {}): Promise<any> {
    return JSON.parse(await this.succeed([...args, '--json'], more));
  }

  /** In a process of its own, for what has to do with signals and pipes. */
  spawn(args: readonly string[], program: string = MAIN): ChildProcess {
    const env = { ...BARE_ENVIRONMENT, ...this.environment };
    return spawn(process.execPath, [program, ...args], { cwd: this.folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  }
}

/** Writes to a command and waits for its end. */
export async function finish(child: ChildProcess, input = ''): Promise<Ended> {
  const { stdin, stdout, stderr } = child;
  assert.ok(stdin !== null && stdout !== null && stderr !== null);
  stdin.end(input);
  const [out, err] = await Promise.all([text(stdout), text(stderr), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

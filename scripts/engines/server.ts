import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS_MAX = 30_000;
const RETRY_MS = 20;

export interface EngineOptions {
  /** Names the temporary folder and the log. */
  readonly name: string;
  readonly program: string;
  /** Run in the folder: relative paths are of it. */
  readonly args: readonly string[];
  /** Whether the server answers. A rejection counts as false. */
  readonly isReady: () => Promise<boolean>;
}

/** A real server as a child process with a temporary folder, which outlives kills and restarts and goes with `stop`. */
export class EngineServer {
  readonly folder: string;
  readonly #options: EngineOptions;
  #child: ChildProcess | undefined;

  private constructor(folder: string, options: EngineOptions) {
    this.folder = folder;
    this.#options = options;
  }

  /** Resolves when the server answers. `prepare` writes its configuration into the folder. */
  static async start(options: EngineOptions, prepare?: (folder: string) => void): Promise<EngineServer> {
    const folder = await mkdtemp(join(tmpdir(), `tollgate-${options.name}-`));
    const server = new EngineServer(folder, options);
    try {
      prepare?.(folder);
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Starts it again, in the same folder and with the same arguments, after a kill. */
  async restart(): Promise<void> {
    await this.kill();
    const { program, args } = this.#options;
    const log = openSync(this.#logPath, 'a');
    this.#child = spawn(program, args, { cwd: this.folder, stdio: ['ignore', log, log] });
    closeSync(log);
    await this.#untilReady(this.#child);
  }

  /** 0 while it does not run. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Stops the process where it is: connections stay open and nothing answers. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  get #logPath(): string {
    return join(this.folder, `${this.#options.name}.log`);
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    let problem = 'it did not answer in time';
    child.once('error', (error) => {
      problem = error.message;
    });
    const deadline = performance.now() + START_MS_MAX;
    while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
      if (await this.#options.isReady().catch(() => false)) return;
      await sleep(RETRY_MS);
    }
    const log = readFileSync(this.#logPath, 'utf8').trim().slice(-2000);
    throw new Error(`${this.#options.name} did not start: ${problem}\n${log}`);
  }
}

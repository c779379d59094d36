import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BARE_ENVIRONMENT } from './environment.ts';
import { fencedBlocks, ROOT, readDocument, runShell } from './manual.ts';
import { freePort } from './program.ts';

/** The address that the documents name. */
export const DOCUMENTED_ORIGIN = 'http://127.0.0.1:8787';
const NOT_IN_A_CLONE = new Set(['.git', 'data', 'tollgate.yaml']);

/**
 * A fresh clone in which `npm start` runs, and a shell beside it. The commands of the documents name the default port; curl
 * is led to the one that this gateway really has by its own configuration file.
 */
export class Newcomer {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly origin: string;
  readonly #gateway: ChildProcess;
  #printed = '';

  private constructor(folder: string, environment: NodeJS.ProcessEnv, origin: string) {
    this.folder = folder;
    this.environment = environment;
    this.origin = origin;
    // In a group of its own, which its end is sent to as a terminal sends Ctrl-C.
    this.#gateway = spawn('npm', ['start'], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** `settings` are those beside the usual ones, by the address at which the gateway really is. */
  static async start(settings: (origin: string) => Record<string, string> = () => ({})): Promise<Newcomer> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-readme-'));
    await layOutClone(folder);
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const environment = {
      ...BARE_ENVIRONMENT,
      HOME: join(folder, 'home'),
      PORT: String(port),
      PUBLIC_URL: DOCUMENTED_ORIGIN,
      ...settings(origin),
    };
    await mkdir(join(folder, 'home'));
    await writeFile(
      join(folder, 'home/.curlrc'),
      `connect-to = "127.0.0.1:8787:127.0.0.1:${port}"\nsilent\nshow-error\n`,
    );
    const newcomer = new Newcomer(folder, environment, origin);
    await newcomer.#started();
    return newcomer;
  }

  /** What `npm start` has printed. */
  get printed(): string {
    return this.#printed;
  }

  async stop(): Promise<void> {
    if (this.#gateway.pid !== undefined && this.#gateway.exitCode === null) {
      const ended = new Promise((resolve) => this.#gateway.once('close', resolve));
      process.kill(-this.#gateway.pid, 'SIGINT');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Runs commands after the line which the start told to paste. */
  shell(commands: string): Promise<{ output: string; code: number | null }> {
    const key = /^ *(export TOLLGATE_KEY=.*)$/m.exec(this.#printed)?.[1] ?? '';
    return runShell(`${key}\n${commands}`, { cwd: this.folder, env: this.environment });
  }

  /** Runs a program, led to the port of this gateway. */
  async program(source: string): Promise<{ output: string; code: number | null }> {
    await writeFile(join(this.folder, 'program.mjs'), source.replaceAll(DOCUMENTED_ORIGIN, this.origin));
    return this.shell('node program.mjs');
  }

  async #started(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        this.#printed += chunk.toString();
        if (this.#printed.includes('Try it')) resolve();
      };
      this.#gateway.stdout?.on('data', take);
      this.#gateway.stderr?.on('data', take);
      this.#gateway.once('close', () => reject(new Error(`npm start ended:\n${this.#printed}`)));
    });
  }
}

/** The commands or programs of one language in a document. */
export function blocksOf(document: string, language: string): string[] {
  return fencedBlocks(readDocument(document), language).map(({ commands }) => commands);
}

/** The folder as a fresh clone has it, with what is installed: links, so that nothing is written into the real one. */
async function layOutClone(folder: string): Promise<void> {
  const names = (await readdir(ROOT)).filter((name) => !NOT_IN_A_CLONE.has(name));
  await Promise.all(names.map((name) => symlink(join(ROOT, name), join(folder, name))));
}

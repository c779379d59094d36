import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import { BARE_ENVIRONMENT } from './environment.ts';
import type { Ended } from './program.ts';

const SCRIPT = fileURLToPath(new URL('./command-process.ts', import.meta.url));

export interface Command {
  readonly number: number;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Environment;
}

/** Runs many commands in one process, which loads the program once: for what needs no process of its own. */
export class Commands {
  readonly #child: ChildProcess = fork(SCRIPT, { env: BARE_ENVIRONMENT });
  readonly #waiting = new Map<number, (ended: Ended) => void>();
  #count = 0;

  constructor() {
    this.#child.on('message', ({ number, ...ended }: Ended & { readonly number: number }) => {
      this.#waiting.get(number)?.(ended);
    });
  }

  run(args: readonly string[], folder: string, environment: Environment): Promise<Ended> {
    const number = this.#count++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, resolve);
      this.#child.once('exit', () => reject(new Error('the process of the commands has ended')));
      this.#child.send({ number, args, folder, environment } satisfies Command);
    });
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

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
  readonly #waiting = new Map<number, PromiseWithResolvers<Ended>>();
  #count = 0;

  constructor() {
    this.#child.on('message', ({ number, ...ended }: Ended & { readonly number: number }) => {
      this.#waiting.get(number)?.resolve(ended);
      this.#waiting.delete(number);
    });
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the process of the commands has ended'));
    });
  }

  run(args: readonly string[], folder: string, environment: Environment): Promise<Ended> {
    const number = this.#count++;
    const waiting = Promise.withResolvers<Ended>();
    this.#waiting.set(number, waiting);
    this.#child.send({ number, args, folder, environment } satisfies Command);
    return waiting.promise;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

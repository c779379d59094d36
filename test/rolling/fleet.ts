// Processes of the program as an operator starts them, from the tree of a release, on one database.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { V8_FLAGS } from '../support/program.ts';
import type { Backend } from './balancer.ts';

/** One process that answers. */
export interface Member extends Backend {
  /** From the signal to the end, in order. Throws when it did not end with 0. */
  drain(): Promise<number>;
  kill(): Promise<void>;
  /** Its log lines of a level above `info`. */
  readonly complaints: readonly string[];
}

/** Resolves once it has told its address. */
export async function startMember(tree: string, environment: NodeJS.ProcessEnv): Promise<Member> {
  const args = [...V8_FLAGS, join(tree, 'src/main.ts'), 'serve'];
  const child = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  // A run that is broken off leaves none behind.
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  child.once('exit', () => process.off('exit', onExit));
  const complaints: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = chunk.toString().split('\n');
    complaints.push(...lines.filter((line) => /"level":(50|60)/.test(line)));
  });
  const url = await addressOf(child);
  return {
    url,
    complaints,
    drain: async () => {
      const startedMs = performance.now();
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code, signal] = await ended;
      if (code !== 0) throw new Error(`a process ended with ${code ?? signal}`);
      return performance.now() - startedMs;
    },
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  let told = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`a process did not start:\n${told}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      told += chunk.toString();
      const url = /Tollgate answers at (\S+)/.exec(told)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

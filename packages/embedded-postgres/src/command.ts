import { type ChildProcess, spawn } from 'node:child_process';
import type { Binaries } from './binaries.ts';
import { lastLines } from './server-log.ts';
import { OUTPUT_BYTES_MAX } from './settings.ts';

/** As whom a program runs. */
export interface RunAs {
  /** What stands in front of the program on its command line. */
  readonly prefix: readonly string[];
  /** Set by the system call, before any program runs. */
  readonly uid?: number;
  readonly gid?: number;
}

export interface CommandResult {
  /** Undefined if the program ended well. */
  readonly failure: string | undefined;
  readonly output: readonly string[];
}

/** Runs one of PostgreSQL's programs to its end, keeping the last lines of what it says. */
export async function runToEnd(
  command: readonly string[],
  options: { identity: RunAs; binaries: Binaries; timeoutMs: number; signal?: AbortSignal },
): Promise<CommandResult> {
  const child = spawnAs(options.identity, options.binaries, command, 'pipe');
  let output = Buffer.alloc(0);
  const keep = (chunk: Buffer) => {
    output = Buffer.concat([output, chunk]).subarray(-OUTPUT_BYTES_MAX);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const ended = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  const kill = () => child.kill('SIGKILL');
  ended.addEventListener('abort', kill, { once: true });
  const failure = await endOf(child);
  ended.removeEventListener('abort', kill);
  return { failure: ended.aborted ? 'it was stopped' : failure, output: lastLines(output.toString()) };
}

/** Resolves once the process has ended, with what went wrong, if anything did. */
export function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Not `once`: a signal that cannot be sent is reported here as well.
    child.on('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      resolve(code === 0 ? undefined : `it ended with ${signal ?? `code ${code}`}`);
    });
  });
}

/** `output` is a file descriptor for everything the program says, or 'pipe'. */
export function spawnAs(
  identity: RunAs,
  binaries: Binaries,
  command: readonly string[],
  output: number | 'pipe',
): ChildProcess {
  const [program = '', ...rest] = [...identity.prefix, ...command];
  return spawn(program, rest, {
    // Ours may be closed to the server's user.
    cwd: '/',
    env: environment(binaries),
    // A terminal's Ctrl-C goes to the whole group; the server must outlive the requests that are being finished.
    detached: true,
    stdio: ['ignore', output, output],
    ...(identity.uid === undefined ? {} : { uid: identity.uid }),
    ...(identity.gid === undefined ? {} : { gid: identity.gid }),
  });
}

/** Nothing of ours: variables such as PGDATA would change what the programs do, and others are secrets. */
function environment(binaries: Binaries): NodeJS.ProcessEnv {
  const plain = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  if (binaries.libraryPath === undefined) return plain;
  const name = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  return { ...plain, [name]: binaries.libraryPath };
}

import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { POLL_MAX_MS } from './settings.ts';

/**
 * The server process of this cluster, if there is one. The number in postmaster.pid alone says little: after a crash it
 * may belong to an unrelated process, or to a zombie.
 */
export function postmasterOf(cluster: string): number | undefined {
  const pid = pidInFile(join(cluster, 'postmaster.pid'));
  return pid !== undefined && isAlive(pid) && belongsTo(pid, cluster) ? pid : undefined;
}

/** The number in this lock file is that of a living process which is no server of the cluster. */
export function isPidOfStranger(lockFile: string, cluster: string): boolean {
  const pid = pidInFile(lockFile);
  return pid !== undefined && isAlive(pid) && !belongsTo(pid, cluster);
}

/** Every process whose working folder is the cluster: server processes, also those whose postmaster was killed. */
export function processesIn(cluster: string): readonly number[] {
  const folder = realPath(cluster);
  if (process.platform !== 'linux' || folder === undefined) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => workingFolder(pid) === folder);
}

/** False if it is still there at the deadline. */
export async function waitUntilGone(isThere: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let delayMs = 5; isThere(); delayMs = Math.min(delayMs * 2, POLL_MAX_MS)) {
    if (performance.now() > deadline) return false;
    await sleep(delayMs);
  }
  return true;
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in the meantime, which is what every caller wants.
  }
}

function pidInFile(lockFile: string): number | undefined {
  const line = readOrEmpty(lockFile).split('\n', 1)[0] ?? '';
  return /^[1-9]\d{0,9}$/.test(line) ? Number(line) : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function belongsTo(pid: number, cluster: string): boolean {
  // Elsewhere there is nothing to look at: believe the file, and leave the rest to PostgreSQL's own check.
  if (process.platform !== 'linux') return true;
  const folder = workingFolder(pid);
  if (folder !== undefined) return folder === realPath(cluster);
  return isServerCommand(readOrEmpty(`/proc/${pid}/cmdline`), cluster);
}

/** `commandLine` is as the kernel gives it, arguments ended by NUL. */
export function isServerCommand(commandLine: string, cluster: string): boolean {
  const [program = '', ...rest] = commandLine.split('\0');
  return basename(program) === 'postgres' && rest.includes(cluster);
}

/** Undefined when we may not look, and for a zombie. */
function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

import { accessSync, constants, existsSync, type Stats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { RESTORE_MARK } from '../data-folder.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const NODE_MAJOR_MIN = 24;
const FREE_BYTES_MIN = 64 * 1024 * 1024;
const FREE_BYTES_LOW = 1024 * 1024 * 1024;
const SKEW_MS_MAX = 2_000;

export function checkNode(version: string): Finding {
  if (Number.parseInt(version, 10) >= NODE_MAJOR_MIN) return ok('node', `Node ${version}`);
  return problem(
    'node',
    `Node ${version} is too old`,
    `Start with "npm start" or bin/tollgate.mjs, which bring their own, or use Node ${NODE_MAJOR_MIN} or newer.`,
  );
}

/** The data folder and what in it is secret. A folder that is not there yet is made by the first start. */
export function checkFolder(folder: string): readonly Finding[] {
  if (!existsSync(folder)) return [ok('data folder', `${folder} is made by the first start`)];
  const stats = statSync(folder);
  if (!stats.isDirectory()) {
    return [problem('data folder', `${folder} is no folder`, 'Choose another with TOLLGATE_DATA.')];
  }
  if (existsSync(join(folder, RESTORE_MARK))) {
    return [problem('data folder', `A restore into ${folder} was broken off`, 'Delete the folder and restore again.')];
  }
  const secrets = ['secret', 'admin-token'].map((name) => join(folder, name)).filter((path) => existsSync(path));
  const faults = [folderFault(folder, stats), ...secrets.map(secretFault)].filter((fault) => fault !== undefined);
  return faults.length > 0 ? faults : [ok('data folder', `${folder} is this user's alone`)];
}

function folderFault(folder: string, stats: Stats): Finding | undefined {
  if (stats.uid !== (process.getuid?.() ?? stats.uid)) {
    return problem(
      'data folder',
      `${folder} belongs to uid ${stats.uid}`,
      'Run as that user, or choose another folder.',
    );
  }
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return problem('data folder', `${folder} cannot be used: ${reasonOf(error)}`, `Run: chmod 700 ${folder}`);
  }
  // The group of the database's own user may pass through it.
  if ((stats.mode & 0o067) === 0) return undefined;
  return problem('data folder', `${folder} is open to other users (mode ${octal(stats)})`, `Run: chmod 700 ${folder}`);
}

function secretFault(path: string): Finding | undefined {
  const stats = statSync(path);
  if ((stats.mode & 0o077) === 0) return undefined;
  return problem('data folder', `${path} is open to other users (mode ${octal(stats)})`, `Run: chmod 600 ${path}`);
}

function octal({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

export async function checkDisk(folder: string): Promise<Finding> {
  const disk = await statfs(existsSync(folder) ? folder : join(folder, '..'));
  return judgeDisk(folder, disk.bavail * disk.bsize);
}

export function judgeDisk(folder: string, freeBytes: number): Finding {
  const text = `${Math.floor(freeBytes / (1024 * 1024))} MiB are free on the disk of ${folder}`;
  const advice = 'Free some space, or choose another folder with TOLLGATE_DATA.';
  if (freeBytes < FREE_BYTES_MIN) return problem('disk', text, advice);
  return freeBytes < FREE_BYTES_LOW ? warning('disk', text, advice) : ok('disk', text);
}

/** How far this machine's clock is from the database's, which judges leases by its own. */
export function judgeClock(skewMs: number): Finding {
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return ok('clock', `within ${seconds} s of the database's`);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return problem('clock', `${seconds} s ${side} the database's`, 'Let a time service (NTP) set both machines.');
}

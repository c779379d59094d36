import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, mkdir, opendir, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hasCode } from './binaries.ts';
import { PORT, SOCKET_PATH_BYTES_MAX } from './settings.ts';
import { PostgresStartError } from './start-error.ts';

/** The uid and gid under which a gateway run by root runs its server: one that owns nothing else. */
export const NOBODY = 65_534;

/** Where everything of one embedded server is. */
export interface Places {
  readonly folder: string;
  readonly cluster: string;
  readonly socketFolder: string;
  readonly logFile: string;
  /** Links to shared libraries, if the package is read-only. */
  readonly libraries: string;
}

/** Makes the data folder if it is missing; refuses one that belongs to another user. */
export async function openPlaces(folder: string): Promise<Places> {
  // Only the data folder itself is closed: the server's user has to pass through those above it.
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const places = placesIn(await realpath(folder));
  await refuseForeign(places.folder);
  await refuseForeign(places.cluster);
  return places;
}

/** `real` is the data folder's own path, without links. */
export function placesIn(real: string): Places {
  const cluster = join(real, 'postgres');
  return {
    folder: real,
    cluster,
    socketFolder: fitsSocket(cluster) ? cluster : privateFolder(real),
    logFile: join(real, 'postgres.log'),
    libraries: join(real, 'postgres-libraries'),
  };
}

/** True if there is a cluster; refuses a folder in its place that is none, since it may hold other data. */
export async function hasCluster(places: Places): Promise<boolean> {
  if ((await statsOf(join(places.cluster, 'global', 'pg_control'))) !== undefined) return true;
  const entries = await readdir(places.cluster).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  if (entries.length === 0) return false;
  throw new PostgresStartError(`${places.cluster} is not empty and holds no PostgreSQL cluster.`, {
    advice: 'Move it away, or choose another folder with TOLLGATE_DATA.',
  });
}

/** True if a socket in this folder has a path short enough, and plain enough for the server's comma-separated list. */
export function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(socketPath(folder)) <= SOCKET_PATH_BYTES_MAX && !/[",]/.test(folder);
}

export function socketPath(folder: string): string {
  return join(folder, `.s.PGSQL.${PORT}`);
}

async function refuseForeign(path: string): Promise<void> {
  const stats = await statsOf(path);
  if (stats === undefined || isOurs(stats)) return;
  const problem = `${path} belongs to another user (uid ${stats.uid}); this process runs as uid ${processUid()}.`;
  throw new PostgresStartError(problem, {
    advice: `Run Tollgate as that user, or choose another folder with TOLLGATE_DATA.`,
  });
}

function privateFolder(dataFolder: string): string {
  return join(tmpdir(), `tollgate-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 20)}`);
}

/** The folder of temporary files is open to all: what has our name there must be ours, and closed to others. */
export async function openSocketFolder(places: Places): Promise<void> {
  const folder = places.socketFolder;
  if (folder === places.cluster) return;
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  const stats = await lstat(folder);
  const isPrivate = stats.isDirectory() && isOurs(stats) && (stats.mode & 0o077) === 0;
  if (isPrivate && fitsSocket(folder)) return;
  const problem = isPrivate
    ? `The path of ${places.folder} is not fit for a Unix socket, and neither is ${folder}.`
    : `${folder}, needed for a Unix socket, is not a private folder of uid ${processUid()}.`;
  throw new PostgresStartError(problem, { advice: 'Choose a short path without commas or quotes with TOLLGATE_DATA.' });
}

export async function removeSocketFolder(places: Places): Promise<void> {
  if (places.socketFolder !== places.cluster) await rm(places.socketFolder, { recursive: true, force: true });
}

function isOurs(stats: Stats): boolean {
  return stats.uid === processUid() || (processUid() === 0 && stats.uid === NOBODY);
}

/** Gives a tree to a user, which only root can. The top goes last: an interrupted walk is begun again at the next start. */
export async function giveTree(path: string, uid: number, gid: number): Promise<void> {
  const stats = await statsOf(path);
  if (processUid() !== 0 || stats === undefined || (stats.uid === uid && stats.gid === gid)) return;
  await giveContents(path, uid, gid);
  await lchown(path, uid, gid);
}

async function giveContents(folder: string, uid: number, gid: number): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveContents(path, uid, gid);
    await lchown(path, uid, gid);
  }
}

export async function setAccess(folder: string, access: { uid: number; gid: number; mode: number }): Promise<void> {
  if (processUid() === 0) await lchown(folder, access.uid, access.gid);
  await chmod(folder, access.mode);
}

async function statsOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
}

export function processUid(): number {
  return process.getuid?.() ?? -1;
}

export function processGid(): number {
  return process.getgid?.() ?? -1;
}

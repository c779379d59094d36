import { lchown, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { hasCode } from './binaries.ts';
import { runToEnd } from './command.ts';
import type { Places } from './folders.ts';
import type { Identity } from './identity.ts';
import { INITDB_MS_MAX, SUPERUSER } from './settings.ts';
import { endedError } from './start-error.ts';

const UNFINISHED = 'postgres.new-';

/** Makes the cluster beside its place and then renames it, so that what has the name is always whole. */
export async function createCluster(
  places: Places,
  server: { identity: Identity; binaries: Binaries },
  signal: AbortSignal,
): Promise<void> {
  await removeUnfinished(places.folder);
  const unfinished = join(places.folder, `${UNFINISHED}${process.pid}`);
  await mkdir(unfinished, { mode: 0o700 });
  try {
    await lchown(unfinished, server.identity.owner.uid, server.identity.owner.gid);
    await initialise(unfinished, places, server, signal);
    await rename(unfinished, places.cluster);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
    // Another gateway was faster: its cluster is as good.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
  await syncFolder(places.folder);
}

async function initialise(
  unfinished: string,
  places: Places,
  server: { identity: Identity; binaries: Binaries },
  signal: AbortSignal,
): Promise<void> {
  const options = ['--auth=trust', '--locale=C', '--encoding=UTF8', `--username=${SUPERUSER}`, '--no-instructions'];
  // Every commit waits while the server makes the next file of its log: 36 ms for the usual 16 MB, one for 1 MB.
  options.push('--wal-segsize=1');
  const command = [server.binaries.initdb, '-D', unfinished, ...options];
  const result = await runToEnd(command, { ...server, timeoutMs: INITDB_MS_MAX, signal });
  signal.throwIfAborted();
  if (result.failure === undefined) return;
  throw await endedError(`The database could not be created in ${places.cluster}: ${result.failure}.`, {
    folder: places.folder,
    output: result.output,
    mayPass: true,
  });
}

/** What gateways left that were killed while they made a cluster. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(UNFINISHED) || isBeingMade(Number(name.slice(UNFINISHED.length)))) continue;
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

function isBeingMade(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Without this a power cut could bring back the unfinished name, and the next start would remove it. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

import { lchown, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { type RunAs, runToEnd } from './command.ts';
import { giveTree, hasCluster, NOBODY, type Places, processGid, processUid, setAccess } from './folders.ts';
import { TRIAL_MS_MAX } from './settings.ts';
import { endedError } from './start-error.ts';

/** As whom the server's programs run, and what they must own for it. PostgreSQL itself refuses to run as root. */
export interface Identity extends RunAs {
  readonly name: string;
  /** Who owns the cluster, seen from outside. */
  readonly owner: { readonly uid: number; readonly gid: number };
  /** Who may pass through the data folder, which stays ours. */
  readonly folderAccess: { readonly uid: number; readonly gid: number; readonly mode: number };
}

/** The first way that is seen to work, with all ownership put right for it. */
export async function chooseIdentity(binaries: Binaries, places: Places): Promise<Identity> {
  const problems: string[] = [];
  const script = trialScript(await hasCluster(places));
  for (const identity of identities(processUid(), processGid(), await namedUid())) {
    const problem = await tryIdentity(identity, script, { binaries, places });
    if (problem === undefined) return identity;
    problems.push(`as ${identity.name}: ${problem}`);
  }
  const context = { folder: places.folder, output: problems, mayPass: false };
  throw await endedError('The PostgreSQL binaries cannot be run here.', context);
}

/**
 * In order of preference. Those under which the data folder stays closed to every other user come first: a user who
 * can pass through it can reach the socket. `named` is a uid that has a name.
 */
export function identities(uid: number, gid: number, named: number): readonly Identity[] {
  const own = { uid, gid };
  const closed = { ...own, mode: 0o700 };
  const namespace = {
    name: `uid ${uid} in a user namespace`,
    prefix: ['unshare', '--user', `--map-user=${named}`, `--map-group=${named}`],
    owner: own,
    folderAccess: closed,
  };
  if (uid !== 0) return [{ name: `uid ${uid}`, prefix: [], owner: own, folderAccess: closed }, namespace];
  const nobody = { uid: NOBODY, gid: NOBODY };
  // The group may pass through the data folder but neither list nor change it; the gateway's files are 0600 anyway.
  const passable = { uid, gid: NOBODY, mode: 0o710 };
  return [
    ...['dac_read_search', 'dac_override'].map((capability) => ({
      name: `uid ${NOBODY} with ${capability}`,
      prefix: withCapability(capability),
      owner: nobody,
      folderAccess: closed,
    })),
    namespace,
    { name: `uid ${NOBODY}`, prefix: [], ...nobody, owner: nobody, folderAccess: passable },
  ];
}

/** Lets the server pass through closed folders on the way to its own, such as root's home. */
function withCapability(capability: string): readonly string[] {
  return [
    'setpriv',
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    '--clear-groups',
    '--no-new-privs',
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`,
    `--bounding-set=-all,+${capability}`,
  ];
}

/**
 * initdb, unlike the server, refuses a user whose number has no name, as containers often have. Where there is a name,
 * it also finds the server's binary in the way that both do at start: by asking for access, which looks at the user
 * alone and not at what powers were lent to it.
 */
function trialScript(isMade: boolean): string {
  const finds = 'if id -un >/dev/null 2>&1; then "$2" --show -D "$3"; else "$2" --version; fi';
  const checks = ['"$1" --version', finds, '[ -O "$3" ]', ': > "$3/written"'];
  return [...(isMade ? [] : ['id -un']), ...checks].join(' && ');
}

async function namedUid(): Promise<number> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return pickNamedUid(text);
}

/** Any uid with a name will do but root's; the unprivileged one if it has a name. */
export function pickNamedUid(passwd: string): number {
  const uids = passwd.split('\n').map((line) => Number(line.split(':')[2] || 0));
  return uids.includes(NOBODY) ? NOBODY : (uids.find((uid) => uid > 0) ?? NOBODY);
}

/** Runs the server's binary and writes a file as this identity. Returns what stood in the way. */
async function tryIdentity(
  identity: Identity,
  script: string,
  { binaries, places }: { binaries: Binaries; places: Places },
): Promise<string | undefined> {
  const trial = join(places.folder, 'postgres-trial');
  try {
    await rm(trial, { recursive: true, force: true });
    await setAccess(places.folder, identity.folderAccess);
    await mkdir(trial, { mode: 0o700 });
    await lchown(trial, identity.owner.uid, identity.owner.gid);
    const command = ['/bin/sh', '-c', script, 'sh', binaries.postgres, binaries.initdb, trial];
    const result = await runToEnd(command, { identity, binaries, timeoutMs: TRIAL_MS_MAX });
    if (result.failure !== undefined) return [result.failure, ...result.output].join('; ');
    await takeOver(identity, places);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** Another way may have been used at the last start. */
async function takeOver(identity: Identity, places: Places): Promise<void> {
  const { uid, gid } = identity.owner;
  await giveTree(places.cluster, uid, gid);
  if (places.socketFolder !== places.cluster) await giveTree(places.socketFolder, uid, gid);
}

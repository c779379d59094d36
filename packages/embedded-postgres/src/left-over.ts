import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, type Watch } from './ask.ts';
import { type Places, socketPath } from './folders.ts';
import { isPidOfStranger, postmasterOf, processesIn, sendSignal, waitUntilGone } from './processes.ts';
import { FAST_STOP_MS_MAX, IMMEDIATE_STOP_MS_MAX, ORPHANS_MS_MAX } from './settings.ts';
import { type Report, waitForAnswer } from './wait.ts';

/** Adopts the server that a killed gateway left behind. Without one, leaves nothing that could hinder a new one. */
export async function settleLeftOver(places: Places, report: Report): Promise<Watch | undefined> {
  const watch = await findLeftOver(places, report);
  if (watch === undefined) await clearTheWay(places);
  else report.progress('Adopting the PostgreSQL server left running');
  return watch;
}

async function findLeftOver(places: Places, report: Report): Promise<Watch | undefined> {
  const isThere = () => postmasterOf(places.cluster) !== undefined;
  const answer = await ask(places.socketFolder);
  if (answer.state === 'ready') return answer.watch;
  if (answer.state === 'silent' && !isThere()) return undefined;
  report.progress('Waiting for the PostgreSQL server left running');
  const outcome = await waitForAnswer(places.socketFolder, isThere, report);
  if (outcome.state === 'ready') return outcome.watch;
  if (outcome.state === 'stuck') {
    report.progress(`Replacing the PostgreSQL server left running: ${outcome.reason}`);
    await endServer(places.cluster, FORCEFUL_WAYS);
  }
  return undefined;
}

type WayToEnd = readonly [signal: NodeJS.Signals, timeoutMs: number];
/** For a server that does not listen. What it confirmed is kept all the same, by recovery at the next start. */
const FORCEFUL_WAYS: readonly WayToEnd[] = [
  ['SIGQUIT', IMMEDIATE_STOP_MS_MAX],
  ['SIGKILL', IMMEDIATE_STOP_MS_MAX],
];
/** Fast shutdown first: it ends sessions, and leaves nothing to recover. */
const ORDERLY_WAYS: readonly WayToEnd[] = [['SIGINT', FAST_STOP_MS_MAX], ...FORCEFUL_WAYS];

/** Ends the server of this cluster, also one that another process started, and waits for the end of all its processes. */
export async function endServer(cluster: string, ways = ORDERLY_WAYS): Promise<void> {
  for (const [signal, timeoutMs] of ways) {
    const pid = postmasterOf(cluster);
    if (pid === undefined) break;
    sendSignal(pid, signal);
    if (await waitUntilGone(() => postmasterOf(cluster) === pid, timeoutMs)) break;
  }
  await endOrphans(cluster);
}

/** Processes of a killed server end by themselves, unless busy; until then they keep a new one from starting. */
async function endOrphans(cluster: string): Promise<void> {
  const areThere = () => processesIn(cluster).length > 0;
  if (await waitUntilGone(areThere, ORPHANS_MS_MAX)) return;
  for (const pid of processesIn(cluster)) sendSignal(pid, 'SIGKILL');
  await waitUntilGone(areThere, ORPHANS_MS_MAX);
}

/** PostgreSQL removes lock files of the dead, but not those whose number now belongs to a stranger. */
async function clearTheWay(places: Places): Promise<void> {
  await endOrphans(places.cluster);
  for (const file of [join(places.cluster, 'postmaster.pid'), `${socketPath(places.socketFolder)}.lock`]) {
    if (isPidOfStranger(file, places.cluster)) await rm(file, { force: true });
  }
}

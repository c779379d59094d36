import type { ChildProcess } from 'node:child_process';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Watch } from './ask.ts';
import { findBinaries } from './binaries.ts';
import { createCluster } from './cluster.ts';
import { endOf, spawnAs } from './command.ts';
import { hasCluster, openSocketFolder, type Places } from './folders.ts';
import { chooseIdentity } from './identity.ts';
import { settleLeftOver } from './left-over.ts';
import { readLog, sizeOfLog, trimLog } from './server-log.ts';
import { ATTEMPT_DELAYS_MS, IMMEDIATE_STOP_MS_MAX, serverArguments } from './settings.ts';
import { endedError, PostgresStartError } from './start-error.ts';
import { type Report, waitForAnswer } from './wait.ts';

export interface ServerOptions {
  /** Extra settings of the server, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** False once there was a cluster: if it has gone, a disk is missing, and an empty one must not take its place. */
  readonly mayCreate: boolean;
}

/** Returns once the server of these places answers: one that was there already, or a new one. */
export async function bringUp(places: Places, options: ServerOptions, report: Report): Promise<Watch> {
  for (const delayMs of ATTEMPT_DELAYS_MS) {
    try {
      return await attempt(places, options, report);
    } catch (error) {
      if (!(error instanceof PostgresStartError) || !error.mayPass) throw error;
      report.progress(`Trying again: ${error.message.split('\n', 1)[0]}`);
    }
    await sleep(delayMs, undefined, { signal: report.signal });
  }
  return attempt(places, options, report);
}

async function attempt(places: Places, options: ServerOptions, report: Report): Promise<Watch> {
  await openSocketFolder(places);
  return (await settleLeftOver(places, report)) ?? (await launch(places, options, report));
}

async function launch(places: Places, options: ServerOptions, report: Report): Promise<Watch> {
  const binaries = await findBinaries(places.libraries);
  const identity = await chooseIdentity(binaries, places);
  if (!(await hasCluster(places))) {
    if (!options.mayCreate) throw new PostgresStartError(`The database in ${places.cluster} has gone.`);
    report.progress(`Creating the database in ${places.cluster}`);
    await createCluster(places, { identity, binaries }, report.signal);
  }
  report.progress(`Starting PostgreSQL as ${identity.name}`);
  await trimLog(places.logFile);
  await using log = await open(places.logFile, 'a', 0o600);
  const command = [binaries.postgres, ...serverArguments(places.cluster, places.socketFolder, options.settings)];
  const logBytes = await sizeOfLog(places.logFile);
  const child = spawnAs(identity, binaries, command, log.fd);
  report.launched?.();
  return await waitForChild(child, places, { ...report, logBytes });
}

async function waitForChild(
  child: ChildProcess,
  places: Places,
  report: Report & { logBytes: number },
): Promise<Watch> {
  let failure: string | undefined;
  const ended = endOf(child).then((reason) => {
    failure = reason ?? 'it ended at once';
  });
  // The server is in a process group of its own: without this it would outlive a gateway that ends while it starts.
  const endAtExit = () => child.kill('SIGINT');
  process.on('exit', endAtExit);
  try {
    const outcome = await waitForAnswer(places.socketFolder, () => failure === undefined, report);
    if (outcome.state === 'ready') {
      child.unref();
      return outcome.watch;
    }
    const reason = outcome.state === 'stuck' ? outcome.reason : (failure ?? 'it ended');
    const output = await readLog(places.logFile, report.logBytes);
    const context = { folder: places.folder, output, mayPass: outcome.state === 'gone' };
    throw await endedError(`PostgreSQL did not start: ${reason}.`, context);
  } catch (error) {
    child.kill('SIGQUIT');
    const force = setTimeout(() => child.kill('SIGKILL'), IMMEDIATE_STOP_MS_MAX);
    await ended;
    clearTimeout(force);
    throw error;
  } finally {
    process.off('exit', endAtExit);
  }
}

import type { Authenticator } from '../accounts/index.ts';
import { forgetResponseItems } from '../calls/index.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Bus, Db, probes, TestClock, Topic } from '../db/index.ts';
import type { LedgerExport } from '../exports/index.ts';
import { forgetFiles } from '../files/index.ts';
import { forgetJobs, forgetKeys } from '../jobs/index.ts';
import { type CallLedger, endAbandoned, lapseExpired, type verdicts } from '../ledger/index.ts';
import type { Logger } from '../log.ts';
import { forgetRecords } from '../oauth/index.ts';
import type { CleanUp } from '../objects/index.ts';
import { identity, links, sessions } from '../people/index.ts';
import { forgetRequests, type RequestLog } from '../request-log/index.ts';
import type { Signals } from '../signals/index.ts';
import type { Throttle } from '../throttle/index.ts';
import { expireTranscripts, type Transcriptions } from '../transcriptions/index.ts';
import { rollUpUsage } from '../usage/index.ts';

export interface WorkerDeps {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly catalogue: Catalogue;
  readonly throttle: Throttle;
  readonly cleanUp: CleanUp;
  readonly callLedger: CallLedger;
  readonly transcriptions: Transcriptions;
  readonly log: Logger;
  /** Present where metrics are exported. */
  readonly signals: Signals | undefined;
  readonly testClock: TestClock | undefined;
  readonly writeProbe: probes.WriteProbe;
  readonly requestLog: RequestLog;
  readonly ledgerExport: LedgerExport;
  readonly booksCheck: verdicts.BooksCheck;
  readonly config: Pick<Config, 'requestLogDays' | 'jobDays' | 'booksEveryMs' | 'exportsLedger' | 'role'>;
}

interface Duty {
  readonly name: string;
  readonly everyMs: number;
  /** Runs also when a process tells of this. */
  readonly topic?: Topic;
  /** May answer 'elsewhere': there is something to do, and another process is at it. */
  readonly run: () => unknown;
}

/**
 * What runs beside the requests, and how often: first what a process does for itself in any role, then what one with the
 * role `work` does for the deployment. Many processes may do the latter at once: each duty is harmless when shared.
 */
function duties(deps: WorkerDeps): readonly Duty[] {
  const own = dutiesOfProcess(deps);
  return deps.config.role === 'serve' ? [...own, releaseDropped(deps)] : [...own, ...dutiesOfDeployment(deps)];
}

/** Without these its own reservations, caches and rows that wait to be written would not be right. */
function dutiesOfProcess(deps: WorkerDeps): readonly Duty[] {
  const { authenticator, catalogue, callLedger } = deps;
  return [
    // Several times per lease, so that one slow round does not lose it.
    { name: 'extend leases', everyMs: 5_000, run: () => callLedger.extendLease() },
    { name: 'end what an outage left open', everyMs: 5_000, run: () => callLedger.maintain() },
    // Takes up what an announcement could not, because the database failed just then.
    { name: 'reload the catalogue', everyMs: 30_000, run: () => catalogue.reload() },
    { name: 'try whether the database takes writes', everyMs: 3_000, run: () => deps.writeProbe.run() },
    { name: 'save last use of keys', everyMs: 10_000, run: () => authenticator.saveLastUsed() },
    { name: 'write the request log', everyMs: 1_000, run: () => deps.requestLog.flush() },
    watchForPeers(deps),
  ];
}

function watchForPeers({ bus, throttle, log, config }: WorkerDeps): Duty {
  let seen = 0;
  const run = () => {
    const { serving } = bus.peers;
    if (throttle.status.counting === 'process' && config.role !== 'work' && serving > seen) {
      log.warn({ processes: serving + 1 }, 'processes share this database, but each counts rate limits alone');
    }
    seen = serving;
  };
  return { name: 'watch for peers', everyMs: 5_000, run };
}

/** A process that takes nothing up leaves what it has dropped to those that do. */
function releaseDropped({ transcriptions }: WorkerDeps): Duty {
  return { name: 'release transcriptions', everyMs: 5_000, run: () => transcriptions.releaseDropped() };
}

function dutiesOfDeployment(deps: WorkerDeps): readonly Duty[] {
  const { db, clock, cleanUp, transcriptions, log, config } = deps;
  return [
    { name: 'end abandoned reservations', everyMs: 5_000, run: () => endAbandoned(db, clock.now()) },
    {
      name: 'take up transcriptions',
      everyMs: 5_000,
      topic: 'transcription',
      run: () => transcriptions.resume(),
    },
    { name: 'lapse expired grants', everyMs: 60_000, run: () => lapseExpired(db, clock.now()) },
    { name: 'roll up usage', everyMs: 15_000, run: () => rollUpUsage(db) },
    { name: 'forget what has expired', everyMs: 60_000, run: () => forgetExpired(db, clock.now()) },
    { name: 'clear expired transcripts', everyMs: 60_000, run: () => expireTranscripts({ db, clock, log }) },
    { name: 'delete expired media', everyMs: 30_000, run: () => cleanUp.run() },
    {
      name: 'forget old requests',
      everyMs: 60_000,
      run: () => forgetRequests(db, clock.now(), config.requestLogDays),
    },
    { name: 'forget old jobs', everyMs: 60_000, run: () => forgetJobs(db, clock.now(), config.jobDays) },
    ...(config.booksEveryMs > 0
      ? [{ name: 'check the books', everyMs: 30_000, run: () => deps.booksCheck.run() }]
      : []),
    ...(config.exportsLedger
      ? [{ name: 'export the ledger', everyMs: 300_000, run: () => deps.ledgerExport.run() }]
      : []),
  ];
}

/** Rows that can open or prevent nothing any more. One after the other: a start runs all duties at once, each on a connection. */
async function forgetExpired(db: Db, now: Date): Promise<void> {
  await forgetKeys(db, now);
  await forgetFiles(db, now);
  await forgetResponseItems(db, now);
  await sessions.forgetSessions(db, now);
  await links.forgetLinks(db, now);
  await forgetRecords(db, now);
  await identity.forgetFinished(db, now);
}

/** Begins at once. Returns what ends it, after a last round of whatever must not be lost. */
export function startDuties(deps: WorkerDeps): () => Promise<void> {
  const all = duties(deps);
  for (const { name } of all) deps.signals?.dutyBegan(name);
  const running = all.map((duty) => repeat(duty, deps));
  for (const duty of all) if (duty.topic !== undefined) deps.bus.on(duty.topic, () => void runOnce(duty, deps));
  // In their order: this process's leases must be extended before leases are found to have run out.
  deps.testClock?.onMoved(async () => {
    for (const duty of all) await runOnce(duty, deps);
  });
  return async () => {
    deps.ledgerExport.stop();
    deps.booksCheck.stop();
    await Promise.all(running.map((stop) => stop()));
    await deps.authenticator.saveLastUsed().catch(() => undefined);
    await deps.requestLog.flush().catch(() => undefined);
  };
}

/** One round after the other, never two at once; a round that fails is told and tried again at its next time. */
function repeat(duty: Duty, deps: RoundDeps): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    await runOnce(duty, deps);
    if (!stopped) timer = setTimeout(begin, duty.everyMs).unref();
  };
  let current = round();
  const begin = () => {
    current = round();
  };
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await current;
  };
}

type RoundDeps = Pick<WorkerDeps, 'log' | 'signals'>;

async function runOnce({ name, run }: Duty, { log, signals }: RoundDeps): Promise<void> {
  try {
    if ((await run()) !== 'elsewhere') signals?.dutySucceeded(name);
  } catch (error) {
    signals?.dutyFailed(name);
    log.warn({ duty: name, err: error }, 'a duty failed and will be tried again');
  }
}

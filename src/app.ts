import { resolve } from 'node:path';
import type { EmbeddedPostgres } from '@tollgate/embedded-postgres';
import { Authenticator } from './accounts/index.ts';
import { ResponseItems } from './calls/index.ts';
import { Catalogue, type CatalogueDeps } from './catalogue/index.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config, Environment, Secret } from './config.ts';
import { keptSecret } from './data-folder.ts';
import {
  Bus,
  type Db,
  type DbAddress,
  migrate,
  migrations,
  openDb,
  type PooledDb,
  probes,
  ReplicaReads,
  retryWhileUnavailable,
  TestClock,
} from './db/index.ts';
import { startEdges } from './edges.ts';
import { GuardedFetch } from './fetch/index.ts';
import { type FirstSteps, makeFirstOperator, prepareFirstSteps } from './first-start.ts';
import { BrowserSessions, type HttpDeps } from './http/index.ts';
import { newId } from './ids.ts';
import { type JobDeps, JobWatches, jobAdmission } from './jobs/index.ts';
import { CallLedger } from './ledger/index.ts';
import { COLLECT_TIMEOUT_MS, DB_FIRST_CONNECT_TIMEOUT_MS } from './limits.ts';
import type { Logger } from './log.ts';
import { Mailer } from './mail/index.ts';
import { CleanUp, MemorySlots } from './objects/index.ts';
import { openSignals } from './open-signals.ts';
import { identity } from './people/index.ts';
import { RequestLog } from './request-log/index.ts';
import { Health, type Pacing } from './routing/index.ts';
import type { RootSecrets } from './seal.ts';
import { type Configuration, putInForce, readConfiguration } from './start-configuration.ts';
import { StartError } from './start-error.ts';
import { openObjectStore } from './storage/index.ts';
import { MemoryThrottle, RedisFault, RedisThrottle, type Throttle } from './throttle/index.ts';
import { Transcriptions } from './transcriptions/index.ts';
import { type ListedVendor, vendors as ownVendors, UpstreamPools, Vendors } from './vendors/index.ts';
import { VERSION } from './version.ts';

export interface App {
  /** Where it listens. */
  readonly url: string;
  /** Where its metrics are, when they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly firstSteps: FirstSteps;
  /** Applies the configuration file again. Throws when it is not valid; then nothing has changed. */
  reapplyFile(): Promise<void>;
  /** Ends both edges in order, then the database. */
  stop(timeoutMs?: number): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  /** What `${NAME}` in a configuration file is taken from. */
  readonly environment: Environment;
  readonly log: Logger;
  /** Short lines for a person who waits. */
  readonly progress: (message: string) => void;
  /** Time by hand, in tests. */
  readonly clock?: Clock;
  /** Chance and waiting by hand, in tests. */
  readonly pacing?: Pacing;
  /** What was read of the configuration file already. */
  readonly configuration?: Configuration;
  /** A server that was started for this process, and is stopped with it. */
  readonly embedded?: EmbeddedPostgres | undefined;
  /** Of a process under a supervisor, which has the embedded server, if there is one. */
  readonly supervised?: SupervisedStart | undefined;
  /** Other vendors than those of this program, in tests. */
  readonly vendors?: readonly ListedVendor[];
}

export interface SupervisedStart {
  readonly database: EmbeddedPostgres['connection'] | undefined;
  /** Whether this process makes what a first start makes. */
  readonly isFirst: boolean;
}

/** Builds every part, top to bottom, and starts listening. What was started is stopped again when a later part fails. */
export async function startApp(options: AppOptions): Promise<App> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    return await start(options, undo);
  } catch (error) {
    await unwind(undo);
    throw error;
  }
}

/** What most folders need. */
type SharedDeps = CatalogueDeps & Pick<JobDeps, 'vendors'>;

async function start(options: AppOptions, undo: (() => Promise<unknown>)[]): Promise<App> {
  const { config, log, embedded } = options;
  if (embedded !== undefined) undo.push(() => embedded.stop());
  const configuration = options.configuration ?? readConfiguration(config, options);
  const { isEmbedded, db } = await openDatabase(options, undo);
  const bus = new Bus(db, newId('proc'), log, config.role);
  const { clock, testClock } = await openClock(options, db, bus);
  const secrets = rootSecretsOf(config);
  const objects = await openObjectStore(config, secrets);
  undo.push(() => objects.close());
  const vendors = new Vendors(options.vendors ?? ownVendors);
  const shared: SharedDeps = { db, bus, clock, log, ...secrets, environment: options.environment, vendors };
  const catalogue = new Catalogue(shared);
  const authenticator = new Authenticator({ db, bus, clock, config });
  const health = new Health({ db, bus, clock, log, pacing: options.pacing });
  undo.push(() => bus.stop());
  // The database has answered before, so it is there: that it is slow for a moment is no reason to give up.
  await retryWhileUnavailable(() => bus.start());
  await retryWhileUnavailable(() => health.load());
  await retryWhileUnavailable(() => putInForce(shared, catalogue, configuration));
  await retryWhileUnavailable(() => makeFirstOperator(shared, config.firstOperator));

  let { drainMs } = config;
  const callLedger = new CallLedger({ db, clock, processId: bus.processId });
  undo.push(() => callLedger.close());
  const outward = await openOutward(config, clock, log);
  undo.push(() => outward.close());
  const { jobMinutes, transcriptDays } = config;
  const processThrottle = new MemoryThrottle(clock);
  const throttle = await openLimits(config, { log, bus, testClock, memory: processThrottle }, undo);
  const reads = openReads({ db, bus }, options);
  undo.push(() => reads.close());
  const seen = await openSignals({ ...shared, db, reads, config, catalogue, health, throttle, version: VERSION }, undo);
  const jobDeps = { ...shared, ...outward, ...seen, catalogue, health, objects, jobMinutes } satisfies JobDeps;
  const transcriptionDeps = { ...jobDeps, memorySlots: new MemorySlots(), processId: bus.processId, transcriptDays };
  const deps: HttpDeps = {
    ...transcriptionDeps,
    db,
    reads,
    ...openJobs(jobDeps),
    transcriptions: new Transcriptions(transcriptionDeps),
    callLedger,
    config,
    adminTokens: adminTokensOf(config),
    authenticator,
    throttle,
    processThrottle,
    browser: new BrowserSessions({ ...shared, ...outward, throttle, processThrottle, config }),
    testClock,
    ...openRecords({ db, clock, log }, config),
    version: VERSION,
  };
  const edges = await startEdges(deps, jobDeps);
  undo.push(() => edges.stop(drainMs));
  const demo = {
    mayMakeDemo: isEmbedded && options.supervised?.isFirst !== false,
    operatorEmail: config.firstOperator?.email,
  };
  const firstSteps = await prepareFirstSteps({ db, clock, catalogue }, demo);
  return {
    url: edges.url,
    metricsUrl: seen.metricsUrl,
    firstSteps,
    reapplyFile: async () => putInForce(shared, catalogue, readConfiguration(config, options)),
    stop: (timeoutMs = drainMs) => {
      drainMs = timeoutMs;
      return unwind(undo);
    },
  };
}

/** Rows about calls that are written in batches. */
function openRecords(deps: Pick<HttpDeps, 'db' | 'clock' | 'log'>, { requestLogDays: days }: Config) {
  return { responseItems: new ResponseItems(deps), requestLog: new RequestLog({ ...deps, days }) };
}

async function openDatabase(options: AppOptions, undo: (() => Promise<unknown>)[]) {
  const embedded = options.embedded?.connection ?? options.supervised?.database;
  const address = databaseAddress(options.config, embedded);
  await migrateAt(address, options, embedded && resolve(options.config.dataFolder));
  const db = openDb(address, options.log);
  undo.push(() => db.close());
  return { isEmbedded: embedded !== undefined, db };
}

/** Where lists and reports are read: a replica, if one is set. */
function openReads({ db, bus }: { db: PooledDb; bus: Bus }, { config, log }: AppOptions): ReplicaReads {
  const { replicaUrl, replicaLagSeconds } = config;
  const replica = replicaUrl === undefined ? undefined : openDb({ url: replicaUrl.reveal(), isReplica: true }, log);
  return new ReplicaReads({ primary: db, replica, bus, lagMsMax: replicaLagSeconds * 1000, log });
}

/** How requests make jobs and wait for them, and how what jobs stored goes again. */
function openJobs(deps: JobDeps): Pick<HttpDeps, 'admitJob' | 'jobWatches' | 'cleanUp'> {
  return { admitJob: jobAdmission(deps), jobWatches: new JobWatches(deps), cleanUp: new CleanUp(deps) };
}

/** The first contact: a database that refuses is told at once, one that is slow to answer is waited for. */
async function migrateAt(address: DbAddress, options: AppOptions, dataFolder?: string): Promise<void> {
  const { config, log, progress } = options;
  const db = openDb(address, log, { connectMs: DB_FIRST_CONNECT_TIMEOUT_MS });
  try {
    if (dataFolder === undefined) await probes.refuseSharedSessions(db);
    if (config.migrates) await migrate(db, progress, { dataFolder });
    else await migrations.requireMigrated(db, dataFolder);
  } finally {
    await db.close();
  }
}

async function openClock(
  options: AppOptions,
  db: Db,
  bus: Bus,
): Promise<{ clock: Clock; testClock: TestClock | undefined }> {
  const testClock = options.config.testClock ? new TestClock(db, bus) : undefined;
  await retryWhileUnavailable(async () => testClock?.load());
  return { clock: options.clock ?? testClock ?? systemClock, testClock };
}

interface LimitDeps {
  readonly log: Logger;
  readonly bus: Bus;
  readonly testClock: TestClock | undefined;
  readonly memory: MemoryThrottle;
}

/** Throws StartError when Redis refuses the address. Redis away is no reason not to start. */
async function openLimits(
  { redis: settings, role }: Config,
  { log, bus, testClock, memory }: LimitDeps,
  undo: (() => Promise<unknown>)[],
): Promise<Throttle> {
  if (settings === undefined || role === 'work') return memory;
  const processes = () => bus.peers.serving + 1;
  try {
    const offsetMs = () => testClock?.offsetMs ?? 0;
    const throttle = await RedisThrottle.open({ settings, log, memory, processes, offsetMs });
    undo.push(async () => throttle.close());
    return throttle;
  } catch (error) {
    if (!(error instanceof RedisFault)) throw error;
    throw new StartError(`REDIS_URL is refused by the server: ${error.message}`);
  }
}

/** Every way in which this program calls others: upstreams, addresses from outside, the identity provider, the mail server. */
async function openOutward({ fetchAllow: allow, oidc, mail: mailSettings, cloud }: Config, clock: Clock, log: Logger) {
  const mail = mailSettings === undefined ? undefined : await Mailer.open(mailSettings, log);
  const pools = new UpstreamPools(cloud);
  const guardedFetch = new GuardedFetch({ allow, log });
  const collectingFetch = new GuardedFetch({ allow, log, timeoutMs: COLLECT_TIMEOUT_MS });
  const openId = oidc === undefined ? undefined : new identity.OpenIdClient(oidc, { clock, log });
  const close = async () => {
    await mail?.close();
    guardedFetch.close();
    collectingFetch.close();
    await pools.close();
    await openId?.close();
  };
  return { mail, openId, pools, guardedFetch, collectingFetch, close };
}

/** The last started is the first stopped; one that fails to stop does not keep the others running. */
async function unwind(undo: (() => Promise<unknown>)[]): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step().catch(() => undefined);
}

function databaseAddress(config: Config, embedded: EmbeddedPostgres['connection'] | undefined): DbAddress {
  if (embedded !== undefined) return embedded;
  if (config.databaseUrl === undefined) throw new Error('there is no database');
  return { url: config.databaseUrl.reveal() };
}

function adminTokensOf({ adminTokens, dataFolder }: Config): readonly Secret[] {
  return adminTokens.length > 0 ? adminTokens : [keptSecret(resolve(dataFolder), 'admin-token')];
}

/** Of the settings, else the one that is kept in the data folder. */
export function rootSecretsOf({ rootSecret, previousSecret, dataFolder }: Config): RootSecrets {
  return { rootSecret: rootSecret ?? keptSecret(resolve(dataFolder), 'secret'), previousSecret };
}

import type { App, SupervisedStart } from '../app.ts';
import { type Config, type Environment, loadConfig } from '../config.ts';
import { openEmbedded } from '../embedded-database.ts';
import { createLog, type LogOutput } from '../log.ts';
import { hasCollectorFlags } from '../memory.ts';
import { readConfiguration } from '../start-configuration.ts';
import { type Invocation, UsageError } from './command.ts';
import { isSupervised, obeySupervisor, Supervisor, tellReady } from './supervisor.ts';
import { welcome } from './welcome.ts';

const ECHO_MS_MAX = 250;
const PARENT_CHECK_EVERY_MS = 250;
const PROCESSES_MAX = 64;
/** Connections to the embedded server: of each process, and beside them. */
const CONNECTIONS_PER_PROCESS = 20;
const CONNECTIONS_BESIDE = 20;

export async function runServer({ environment, options }: Invocation): Promise<number> {
  const count = processCount(options.processes ?? '1');
  const config = loadConfig(environment);
  const output = createLog(config.logLevel);
  if (!hasCollectorFlags())
    output.log.warn('V8 runs without the flags of `npm start`, see "Memory" in docs/operating.md');
  return count > 1 ? runProcesses(count, { config, environment, output }) : runProcess({ config, environment, output });
}

function processCount(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= PROCESSES_MAX) return count;
  throw new UsageError(`--processes must be a whole number from 1 to ${PROCESSES_MAX}.`);
}

interface Start {
  readonly config: Config;
  readonly environment: Environment;
  readonly output: LogOutput;
}

async function runProcess({ config, environment, output }: Start): Promise<number> {
  // One listener from beginning to end: between two of them a signal would kill the process.
  let stop: (signal: string) => void = endAtOnce;
  let isStopping = false;
  // Without a listener it would end the process; the file may have been read before it came.
  let isDue = false;
  let reapply = () => {
    isDue = true;
  };
  process.on('SIGHUP', () => reapply());
  if (isSupervised()) {
    // A signal to the whole group or unit arrives here and at the supervisor, which tells it on: both are one.
    const stopOnce = () => {
      if (!isStopping) stop('supervisor');
    };
    process.on('SIGTERM', stopOnce);
    process.on('SIGINT', () => undefined);
    obeySupervisor({ stop: stopOnce, end: endAtOnce, reapply: () => reapply() });
  } else {
    onStopSignal((signal) => stop(signal));
    onParentGone(environment, () => stop('parent gone'));
  }
  const { log } = output;
  // Before a database is made or touched: what is wrong with a file is told with nothing to undo.
  const configuration = readConfiguration(config, { environment, log });
  const supervised = supervisedStart(environment);
  // The program is loaded while the server starts, which is on another processor and takes about as long.
  const launched = () => void loadProgram().catch(() => undefined);
  const embedded = supervised === undefined ? await openEmbedded({ config, log, progress: tell, launched }) : undefined;
  const { startApp } = await loadProgram();
  const app = await startApp({ config, environment, log, progress: tell, configuration, embedded, supervised });
  reapply = () => reapplyFile(app, output);
  if (isDue) reapply();
  const signalled = new Promise<string>((resolve) => {
    stop = resolve;
  });
  const text = welcome(app.url, config, app.firstSteps);
  if (isSupervised()) tellReady(text);
  else tell(text);
  const signal = await signalled;
  isStopping = true;
  output.log.info({ signal }, 'stopping');
  // A second signal does not wait.
  stop = endAtOnce;
  await app.stop();
  output.flush();
  return 0;
}

function loadProgram(): Promise<typeof import('../app.ts')> {
  return import('../app.ts');
}

/** The supervisor: has the embedded database and the port, and answers nothing itself. */
async function runProcesses(count: number, { config, environment, output }: Start): Promise<number> {
  const { log } = output;
  let stop: (signal: string) => void = endAtOnce;
  onStopSignal((signal) => stop(signal));
  onParentGone(environment, () => stop('parent gone'));
  const settings = { max_connections: String(CONNECTIONS_BESIDE + count * CONNECTIONS_PER_PROCESS) };
  const embedded = await openEmbedded({ config, log, progress: tell, settings });
  const database = embedded?.connection;
  const supervisor = new Supervisor({
    count,
    log,
    environmentOf: (place) => environmentOf(place, environment, { database, isFirst: place === 0 }),
  });
  process.on('SIGHUP', () => supervisor.reapply());
  const signalled = new Promise<string>((resolve) => {
    stop = resolve;
  });
  // The first process serves while the others start: a signal meanwhile stops in order too.
  const told = await Promise.race([supervisor.start(), signalled.then(() => undefined)]);
  if (typeof told === 'string') {
    tell(`${count} processes share the port.${config.redis === undefined ? ` ${OWN_LIMITS}` : ''}`);
    if (config.redis === undefined) log.warn({ processes: count }, OWN_LIMITS);
    tell(told);
  }
  if (told !== false) log.info({ signal: await signalled }, 'stopping');
  // A second signal does not wait.
  stop = () => {
    supervisor.end();
    endAtOnce();
  };
  await supervisor.stop();
  await embedded?.stop();
  output.flush();
  return told === false ? 1 : 0;
}

const OWN_LIMITS =
  'Each counts rates and concurrency alone, so that a key has as many times its limits as there are processes: REDIS_URL ' +
  'names a server that counts for all.';

/** What a supervisor gives a process beside the settings. Not a setting: it is made anew at every start. */
const START_VARIABLE = 'SUPERVISED_START';

function environmentOf(place: number, environment: Environment, start: SupervisedStart): Environment {
  const { TOLLGATE_METRICS_PORT: metricsPort } = environment;
  // Each process has metrics of its own, so each needs a port of its own.
  const metrics = metricsPort ? { TOLLGATE_METRICS_PORT: String(Number(metricsPort) + place) } : {};
  return { ...environment, ...metrics, [START_VARIABLE]: JSON.stringify(start) };
}

function supervisedStart(environment: Environment): SupervisedStart | undefined {
  const text = environment[START_VARIABLE];
  return isSupervised() && text !== undefined ? (JSON.parse(text) as SupervisedStart) : undefined;
}

function tell(message: string): void {
  console.error(message);
}

/**
 * A terminal's Ctrl-C goes to the whole process group, and npm or the launcher passes it on once more: two SIGINT at
 * once are one, or the second would end the gateway without waiting for running requests.
 */
function onStopSignal(stop: (signal: string) => void): void {
  let interruptedMs = Number.NEGATIVE_INFINITY;
  process.on('SIGTERM', stop);
  process.on('SIGINT', () => {
    const nowMs = performance.now();
    if (nowMs - interruptedMs > ECHO_MS_MAX) stop('SIGINT');
    interruptedMs = nowMs;
  });
}

/** What npm or the launcher started ends when they are killed, instead of staying behind as an orphan. */
function onParentGone(environment: Environment, stop: () => void): void {
  if (environment.npm_lifecycle_event === undefined && environment.LAUNCHED_BY === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop();
  }, PARENT_CHECK_EVERY_MS).unref();
}

/** Before anything is served nothing has to end in order. An exit stops the database; a signal alone would leave it. */
function endAtOnce(): void {
  process.exit(1);
}

function reapplyFile(app: App, { log }: LogOutput): void {
  app.reapplyFile().then(
    () => log.info('the configuration file was applied again'),
    (error: Error) => log.error({ reason: error.message }, 'the configuration file was not applied'),
  );
}

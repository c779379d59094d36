import { type App, startApp } from '../app.ts';
import { type Environment, loadConfig } from '../config.ts';
import { createLog, type LogOutput } from '../log.ts';
import { hasCollectorFlags } from '../memory.ts';
import type { Command, Invocation } from './command.ts';
import { welcome } from './welcome.ts';

const ECHO_MS_MAX = 250;
const PARENT_CHECK_EVERY_MS = 250;

export const serve: Command = {
  name: 'serve',
  operands: [],
  options: {},
  summary: 'start the gateway (also without a command)',
  details: `Starts the gateway and stays until it is stopped. SIGTERM or Ctrl-C ends it in order: running requests get
30 seconds, then the database is stopped; a second signal does not wait. SIGHUP applies the configuration
file again. The log goes to standard output, one JSON object per line.`,
  run: runServer,
};

async function runServer({ environment }: Invocation): Promise<number> {
  const config = loadConfig(environment);
  const output = createLog(config.logLevel);
  if (!hasCollectorFlags())
    output.log.warn('V8 runs without the flags of `npm start`, see "Memory" in docs/operating.md');
  const progress = (message: string) => console.error(message);
  // One listener from beginning to end: between two of them a signal would kill the process.
  let stop: (signal: string) => void = endAtOnce;
  onStopSignal((signal) => stop(signal));
  onParentGone(environment, () => stop('parent gone'));
  // Without a listener it would end the process; the file may have been read before it came.
  let isDue = false;
  let reapply = () => {
    isDue = true;
  };
  process.on('SIGHUP', () => reapply());
  const app = await startApp({ config, environment, log: output.log, progress });
  reapply = () => reapplyFile(app, output);
  if (isDue) reapply();
  const signalled = new Promise<string>((resolve) => {
    stop = resolve;
  });
  console.error(welcome(app.url, config, app.firstSteps));
  output.log.info({ signal: await signalled }, 'stopping');
  // A second signal does not wait.
  stop = endAtOnce;
  await app.stop();
  output.flush();
  return 0;
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

import { parseArgs } from 'node:util';
import { type App, startApp } from './app.ts';
import { SealedWithAnotherSecret } from './catalogue/index.ts';
import { ConfigError, loadConfig } from './config.ts';
import { checkFile, diffFiles } from './config-commands.ts';
import { DocumentError } from './configuration/index.ts';
import { DataFolderError } from './data-folder.ts';
import { DatabaseUnavailable, MigrationError } from './db/index.ts';
import { welcome } from './first-start.ts';
import { createLog, type LogOutput } from './log.ts';
import { tuneMemory } from './memory.ts';
import { PostgresStartError } from './postgres/index.ts';

const USAGE = `Usage:
  tollgate serve                       start the gateway (settings come from the environment)
  tollgate config check FILE           say everything that is wrong with a configuration
  tollgate config diff FILE [OTHER]    what FILE would change against OTHER, or against what a start would apply`;

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const TOLD_AS_THEY_ARE = [
  ConfigError,
  DocumentError,
  DataFolderError,
  MigrationError,
  PostgresStartError,
  SealedWithAnotherSecret,
];

const ADDRESS_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is not an address of this machine',
  EACCES: 'may not be used by this user',
};

tuneMemory();
// Not left to the event loop: a connection to a database that has stopped answering would keep it alive.
process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, strict: false });
  if (values.help === true) {
    console.log(USAGE);
    return 0;
  }
  try {
    if (Object.keys(values).length === 0) return await run(positionals);
  } catch (error) {
    return failed(error);
  }
  return misused();
}

async function run([command = 'serve', verb, file, other, ...more]: readonly string[]): Promise<number> {
  if (command === 'serve' && verb === undefined) return serve();
  if (command !== 'config' || file === undefined || more.length > 0) return misused();
  if (verb === 'check' && other === undefined) return checkFile(file, process.env);
  return verb === 'diff' ? diffFiles(file, other, process.env) : misused();
}

function misused(): number {
  console.error(USAGE);
  return 2;
}

async function serve(): Promise<number> {
  const config = loadConfig(process.env);
  const output = createLog(config.logLevel);
  const progress = (message: string) => console.error(message);
  // One listener from beginning to end: between two of them a signal would kill the process.
  let stop: (signal: string) => void = endAtOnce;
  for (const signal of STOP_SIGNALS) process.on(signal, (name) => stop(name));
  // Without a listener it would end the process; the file may have been read before it came.
  let isDue = false;
  let reapply = () => {
    isDue = true;
  };
  process.on('SIGHUP', () => reapply());
  const app = await startApp({ config, environment: process.env, log: output.log, progress });
  reapply = () => reapplyFile(app, output);
  if (isDue) reapply();
  const signalled = new Promise<string>((resolve) => {
    stop = resolve;
  });
  console.error(welcome(app.url, config, app.firstStart));
  output.log.info({ signal: await signalled }, 'stopping');
  // A second signal does not wait.
  stop = endAtOnce;
  await app.stop();
  output.flush();
  return 0;
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

/** What a person can mend is told in its own words; the rest is our bug and shows its stack. */
function failed(error: unknown): number {
  console.error(problemFor(error) ?? error);
  return 1;
}

function problemFor(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (TOLD_AS_THEY_ARE.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof DatabaseUnavailable) return databaseProblem(error.cause);
  return isAddressError(error) ? addressProblem(error) : undefined;
}

function databaseProblem(cause: unknown): string {
  // A name with several addresses fails with several errors and no message of its own.
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  const reasons = errors.map((error: unknown) => (error instanceof Error ? error.message : String(error)));
  return `The database is not available: ${reasons.join('; ')}. If DATABASE_URL is set, check it.`;
}

type AddressError = Error & { readonly code: string; readonly address?: string; readonly port?: number };

function isAddressError(error: Error): error is AddressError {
  return 'code' in error && String(error.code) in ADDRESS_PROBLEMS && 'syscall' in error && error.syscall === 'listen';
}

function addressProblem({ code, address, port }: AddressError): string {
  const place = port === undefined ? address : `${address}:${port}`;
  return `${place} ${ADDRESS_PROBLEMS[code]}. Choose another with PORT and HOST.`;
}

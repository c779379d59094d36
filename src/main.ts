import { parseArgs } from 'node:util';
import { type App, startApp } from './app.ts';
import { SealedWithAnotherSecret } from './catalogue/index.ts';
import { ConfigError, loadConfig } from './config.ts';
import { checkFile, diffFiles } from './config-commands.ts';
import { DocumentError } from './configuration/index.ts';
import { DataFolderError } from './data-folder.ts';
import { MigrationError } from './db/index.ts';
import { welcome } from './first-start.ts';
import { createLog, type LogOutput } from './log.ts';
import { PostgresStartError } from './postgres/index.ts';

const USAGE = `Usage:
  tollgate serve                       start the gateway (settings come from the environment)
  tollgate config check FILE           say everything that is wrong with a configuration
  tollgate config diff FILE [OTHER]    what FILE would change against OTHER, or against what a start would apply`;

process.exitCode = await main(process.argv.slice(2));

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
  const app = await startApp({ config, environment: process.env, log: output.log, progress });
  console.error(welcome(app.url, config, app.firstStart));
  return untilStopped(app, output);
}

/** Resolves to the exit code once a signal has stopped everything in order. A second signal does not wait. */
function untilStopped(app: App, { log, flush }: LogOutput): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (signal: string) => {
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ signal }, 'stopping');
      app.stop().finally(() => {
        flush();
        resolve(0);
      });
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    process.on('SIGHUP', () => {
      app.reapplyFile().then(
        () => log.info('the configuration file was applied again'),
        (error: Error) => log.error({ reason: error.message }, 'the configuration file was not applied'),
      );
    });
  });
}

/** What a person can mend is told in its own words; the rest is our bug and shows its stack. */
function failed(error: unknown): number {
  const told = [
    ConfigError,
    DocumentError,
    DataFolderError,
    MigrationError,
    PostgresStartError,
    SealedWithAnotherSecret,
  ];
  if (error instanceof Error && (told.some((kind) => error instanceof kind) || isAddressError(error))) {
    console.error(isAddressError(error) ? addressProblem(error) : error.message);
  } else {
    console.error(error);
  }
  return 1;
}

type AddressError = Error & { readonly code: string; readonly address?: string; readonly port?: number };

function isAddressError(error: Error): error is AddressError {
  return 'code' in error && ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES'].includes(String(error.code)) && 'port' in error;
}

function addressProblem({ code, address, port }: AddressError): string {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'is in use by another program',
    EADDRNOTAVAIL: 'is not an address of this machine',
    EACCES: 'may not be used by this user',
  };
  return `${address}:${port} ${reasons[code]}. Choose another with PORT and HOST.`;
}

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pino } from 'pino';
import { newestVersion, openSecrets } from '../catalogue/index.ts';
import { systemClock } from '../clock.ts';
import { type Config, ConfigError, loadConfig, Secret } from '../config.ts';
import { type ConfigDocument, parseDocument } from '../configuration/index.ts';
import { readKeptSecret } from '../data-folder.ts';
import { type Db, MigrationError, migrationState, type PooledDb, probes } from '../db/index.ts';
import { loadEmbeddedPostgres } from '../packages.ts';
import type { RootSecrets } from '../seal.ts';
import { readConfiguration } from '../start-configuration.ts';
import { StartError } from '../start-error.ts';
import { openObjectStore } from '../storage/index.ts';
import { vendors } from '../vendors/index.ts';
import { checkDisk, checkFolder, checkNode, judgeClock } from './check-machine.ts';
import { checkRedis } from './check-redis.ts';
import { checkUpstreams } from './check-upstreams.ts';
import type { Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';
import { problemFor } from './failure.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';
import { print } from './output.ts';

export async function examine({ options, environment }: Invocation): Promise<number> {
  const findings: Finding[] = [];
  const tell = (...batch: readonly Finding[]) => {
    findings.push(...batch);
    if (options.json === undefined) for (const finding of batch) console.log(lineOf(finding));
  };
  tell(checkNode(process.versions.node));
  const config = settingsOf(environment, tell);
  if (config !== undefined) await examineDeployment(config, environment, tell);
  const count = findings.filter(({ state }) => state === 'problem').length;
  print(options, { problems: count, findings }, () =>
    count === 0 ? 'No problem was found.' : `${count} ${count === 1 ? 'problem was' : 'problems were'} found.`,
  );
  return count === 0 ? 0 : 1;
}

type Tell = (...batch: readonly Finding[]) => void;

function lineOf({ check, state, text, advice }: Finding): string {
  const line = `${state.padEnd(8)} ${check}: ${text}`;
  return advice === undefined ? line : `${line}\n${' '.repeat(9)}${advice}`;
}

function settingsOf(environment: Invocation['environment'], tell: Tell): Config | undefined {
  try {
    const config = loadConfig(environment);
    tell(ok('settings', 'every one is valid'));
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    tell(...error.problems.map((text) => problem('settings', text, 'docs/settings.md lists the settings.')));
    return undefined;
  }
}

async function examineDeployment(config: Config, environment: Invocation['environment'], tell: Tell): Promise<void> {
  const folder = resolve(config.dataFolder);
  const written = writtenDocument(config, environment, tell);
  const folderFindings = checkFolder(folder);
  tell(...folderFindings);
  // Nothing below a folder that cannot be used can be checked, and checking would change it.
  if (folderFindings.some(({ state }) => state === 'problem') && config.databaseUrl === undefined) return;
  if (config.databaseUrl === undefined || config.s3 === undefined) tell(await checkDisk(folder));
  const inForce = await examineDatabase(config, folder, tell);
  if (config.redis !== undefined) tell(await checkRedis(config.redis));
  tell(await checkObjects(config, folder));
  tell(...(await checkUpstreams(inForce ?? written ?? { upstreams: [], models: [] })));
}

function writtenDocument(
  config: Config,
  environment: Invocation['environment'],
  tell: Tell,
): ConfigDocument | undefined {
  try {
    const { source, text } = readConfiguration(config, { environment, log: pino({ level: 'silent' }) });
    const document = parseDocument(text, vendors);
    const count = `${document.upstreams.length} upstreams, ${document.models.length} models`;
    tell(ok('configuration', `${source === 'file' ? 'the file is valid' : 'the built-in catalogue'}: ${count}`));
    return document;
  } catch (error) {
    tell(
      problem(
        'configuration',
        problemFor(error) ?? reasonOf(error),
        'Mend the file; "tollgate config check" checks it.',
      ),
    );
    return undefined;
  }
}

/** Resolves to the configuration in force, where there is one. */
async function examineDatabase(config: Config, folder: string, tell: Tell): Promise<ConfigDocument | undefined> {
  try {
    if (config.databaseUrl === undefined && !(await hasEmbeddedDatabase(folder))) {
      tell(ok('database', 'the first start makes it'));
      return undefined;
    }
    return await withDatabase(config, async (db) => {
      tell(...(await checkDatabase(db)));
      return documentInForce(db, config, tell);
    });
  } catch (error) {
    if (error instanceof MigrationError) {
      tell(problem('migrations', error.problem, error.advice));
      return undefined;
    }
    const advice = 'Start the database, and check DATABASE_URL where it is set.';
    tell(problem('database', problemFor(error) ?? reasonOf(error), advice));
    return undefined;
  }
}

async function hasEmbeddedDatabase(folder: string): Promise<boolean> {
  const { findEmbeddedPostgres } = await loadEmbeddedPostgres();
  return (await findEmbeddedPostgres(folder)).state !== 'absent';
}

async function checkDatabase(db: PooledDb): Promise<readonly Finding[]> {
  const beforeMs = systemClock.nowMs();
  const [server] = await db.rows<{ version: string; nowMs: number }>(
    `select current_setting('server_version') as version,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`,
  );
  const skewMs = (beforeMs + systemClock.nowMs()) / 2 - (server?.nowMs ?? 0);
  return [
    ok('database', `PostgreSQL ${server?.version} answers`),
    ...(await checkServers(db)),
    await checkMigrations(db),
    judgeClock(skewMs),
  ];
}

/** What stands between the gateway and the database, and beside it. */
async function checkServers(db: PooledDb): Promise<readonly Finding[]> {
  const strays = db.warnings.map((text) => problem('database servers', text, FENCE));
  try {
    await probes.refuseSharedSessions(db);
    return strays;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [
      ...strays,
      problem('connection pooler', error.message, 'docs/operating.md, "Connection poolers", says how.'),
    ];
  }
}

const FENCE = 'docs/operating.md, "Servers that fail over", says why it must be stopped.';

async function checkMigrations(db: Db): Promise<Finding> {
  const found = await migrationState(db);
  switch (found.state) {
    case 'applied':
      return ok('migrations', `all ${found.count} were applied`);
    case 'pending':
      return warning(
        'migrations',
        `${found.pending} of ${found.count} are not applied yet`,
        'The next start applies them, or "tollgate migrate" does.',
      );
    case 'ahead':
      return ok('migrations', `all ${found.count} were applied, and ${found.name} of a newer release, which fits`);
    case 'newer':
    case 'other history':
      return problem('migrations', `this release does not know ${found.name}`, 'Start the release that made it.');
  }
}

async function documentInForce(db: Db, config: Config, tell: Tell): Promise<ConfigDocument | undefined> {
  const [table] = await db.rows<{ name: string | null }>(`select to_regclass('config_versions')::text as name`);
  const newest = table?.name == null ? undefined : await newestVersion(db);
  if (newest === undefined) return undefined;
  try {
    openSecrets(secretsOf(config), newest);
    tell(ok('sealed secrets', 'open with TOLLGATE_SECRET'));
  } catch (error) {
    tell(problem('sealed secrets', reasonOf(error), 'docs/operating.md, "Changing secrets", says how.'));
  }
  return newest.document;
}

/** Writes, reads and deletes an object. */
async function checkObjects(config: Config, folder: string): Promise<Finding> {
  const place = config.s3 === undefined ? `${folder}/objects` : `the bucket ${config.s3.bucket}`;
  if (config.s3 === undefined && !existsSync(folder)) return ok('object store', `${place} is made by the first start`);
  const key = `probe/${randomBytes(20).toString('hex')}`;
  const content = Buffer.from('a probe of "tollgate doctor"');
  try {
    const store = await openObjectStore(config, secretsOf(config));
    await store.put(key, content, { mimeType: 'text/plain', bytesMax: content.length });
    const object = await store.read(key);
    const copy = object === undefined ? undefined : Buffer.concat(await Array.fromAsync(object.body));
    await store.remove(key);
    await store.close();
    if (copy?.equals(content) === true) return ok('object store', `${place} takes, gives and deletes`);
    return problem('object store', `${place} gave back something else than it took`, 'Check its disk or its settings.');
  } catch (error) {
    const advice = 'Make the folder writable, or check S3_BUCKET, S3_ENDPOINT, S3_REGION and the credentials.';
    return problem('object store', `${place} does not work: ${problemFor(error) ?? reasonOf(error)}`, advice);
  }
}

/** As the gateway finds them, but none is made. */
function secretsOf({ rootSecret, previousSecret, dataFolder }: Config): RootSecrets {
  const secret = rootSecret ?? readKeptSecret(resolve(dataFolder), 'secret');
  return { rootSecret: secret ?? new Secret(''), previousSecret };
}

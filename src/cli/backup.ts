import { linkSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { rootSecretsOf } from '../app.ts';
import { ArchiveWriter, dumpDatabase, type StoredKey } from '../backup/index.ts';
import { newestVersion, openSecrets, SealedWithAnotherSecret } from '../catalogue/index.ts';
import { systemClock } from '../clock.ts';
import { type Config, loadConfig } from '../config.ts';
import { readKeptSecret } from '../data-folder.ts';
import type { Db } from '../db/index.ts';
import type { RootSecrets } from '../seal.ts';
import { openObjectStore } from '../storage/index.ts';
import { VERSION } from '../version.ts';
import { CommandError, type Invocation } from './command.ts';
import { withDatabase } from './deployment.ts';
import { print } from './output.ts';

export async function makeBackup({ operands: [file = ''], options, environment }: Invocation): Promise<number> {
  const config = loadConfig(environment);
  if (config.databaseUrl !== undefined) {
    throw new CommandError(
      'backup is for the embedded database. For DATABASE_URL use pg_dump; docs/operating.md has the recipe.',
    );
  }
  const path = resolve(file);
  const draft = `${path}.unfinished-${process.pid}`;
  const writer = await ArchiveWriter.create(draft, systemClock.now()).catch((error: Error) => {
    throw new CommandError(`The backup cannot be written: ${error.message}.`);
  });
  const discard = () => rmSync(draft, { force: true });
  process.once('exit', discard);
  try {
    await withDatabase(config, (db) => writeDeployment(db, writer, config));
    const counts = await writer.finish();
    await publish(draft, path);
    print(options, { file, rows: counts.rows, objects: counts.objects }, () => [
      `${file} holds ${counts.rows} rows and ${counts.objects} stored media.`,
      'It also holds the root secret and the admin token: keep it where only you can read it.',
    ]);
    return 0;
  } finally {
    discard();
    process.off('exit', discard);
  }
}

/** A link, unlike a rename, refuses a name that is taken. */
async function publish(draft: string, path: string): Promise<void> {
  try {
    linkSync(draft, path);
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw isTaken ? new CommandError(`${path} exists already; choose another name.`) : error;
  }
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}

async function writeDeployment(db: Db, writer: ArchiveWriter, config: Config): Promise<void> {
  const folder = resolve(config.dataFolder);
  const secrets = rootSecretsOf(config);
  await refuseForeignSecret(db, secrets);
  const about = { release: VERSION, made_at: systemClock.now().toISOString() };
  const objects = await dumpDatabase(db, writer, about);
  await writer.add('secret', Buffer.from(`${secrets.rootSecret.reveal()}\n`));
  const token = readKeptSecret(folder, 'admin-token');
  if (token !== undefined) await writer.add('admin-token', Buffer.from(`${token.reveal()}\n`));
  if (config.s3 === undefined) await addObjects(objects, writer, config, secrets);
  else console.error(`Note: stored media is in the bucket ${config.s3.bucket} and not in the backup.`);
}

/** A backup without the secret that its rows are sealed with would be found out at the worst time. */
async function refuseForeignSecret(db: Db, secrets: RootSecrets): Promise<void> {
  const newest = await newestVersion(db);
  if (newest === undefined) return;
  openSecrets(secrets, newest);
  try {
    openSecrets({ rootSecret: secrets.rootSecret }, newest);
  } catch (error) {
    if (!(error instanceof SealedWithAnotherSecret)) throw error;
    throw new CommandError(
      'Run "tollgate secrets reseal" first: a backup holds TOLLGATE_SECRET, not the previous one.',
    );
  }
}

async function addObjects(
  keys: readonly StoredKey[],
  writer: ArchiveWriter,
  config: Config,
  secrets: RootSecrets,
): Promise<void> {
  const store = await openObjectStore(config, secrets);
  let gone = 0;
  for (const { key, bytes } of keys) {
    const object = await store.read(key);
    if (object !== undefined) await writer.addObject(`objects/${key}`, object);
    else if (bytes > 0n) gone++;
  }
  await store.close();
  if (gone > 0) console.error(`Note: ${gone} stored media were deleted while the backup was made.`);
}

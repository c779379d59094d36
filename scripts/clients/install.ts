import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientProgram } from '../../test/clients/versions.ts';
import { installPython, makeEnvironment } from '../python/environment.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/clients/', import.meta.url));

/** Where a program is installed: beside the project's packages, since it is none of its dependencies. */
export function programFolder(name: string): string {
  return join(CACHE, name);
}

/** Installs exactly what is pinned, unless it is there already. Returns what keeps it from that. */
export function installProgram(program: ClientProgram): string | undefined {
  const folder = programFolder(program.name);
  const stamp = join(folder, 'installed.json');
  const pinned = JSON.stringify(program);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === pinned) return undefined;
  console.error(`Installing ${program.title} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const problem = program.from === 'npm' ? installFromNpm(program, folder) : installFromPip(program, folder);
  // Written last: an installation that was cut off is begun again.
  if (problem === undefined) writeFileSync(stamp, pinned);
  return problem;
}

function installFromNpm({ packages, installScripts = [] }: ClientProgram, folder: string): string | undefined {
  const allowScripts = Object.fromEntries(installScripts.map((name) => [name, true]));
  const manifest = { private: true, type: 'module', dependencies: packages, allowScripts };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  return run('npm', ['install', '--no-audit', '--no-fund', '--save-exact'], folder);
}

function installFromPip({ packages }: ClientProgram, folder: string): string | undefined {
  const missing = installPython();
  if (missing !== undefined) return missing;
  makeEnvironment(folder);
  const pinned = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  return run(join(folder, 'bin/pip'), ['install', '--disable-pip-version-check', '--no-input', ...pinned], folder);
}

function run(command: string, args: readonly string[], cwd: string): string | undefined {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status === 0) return undefined;
  return `${command} ${args.join(' ')} failed: ${error?.message ?? stderr.trim().slice(-500)}`;
}

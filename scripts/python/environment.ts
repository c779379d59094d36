import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installPackage } from '../debian.ts';

/** The interpreter that virtual environments are made with: another than the system's by the variable PYTHON. */
const PYTHON = process.env.PYTHON ?? 'python3';
const CACHE = resolve('node_modules/.cache/python');
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--no-input'];

/** What keeps virtual environments from being made on this machine; Debian's packages are installed first where root may. */
export function installPython(): string | undefined {
  const succeeds = (...args: string[]) => spawnSync(PYTHON, args).status === 0;
  return (
    installPackage('python3', () => succeeds('--version')) ??
    installPackage('python3-venv', () => succeeds('-c', 'import venv, ensurepip'))
  );
}

/** Whether the wheel can be built without installing anything on the system. */
export function hasPython(): boolean {
  return spawnSync(PYTHON, ['-c', 'import venv, ensurepip']).status === 0;
}

/**
 * A virtual environment for a version of Python with exactly what a file of requirements pins, made once. Returns its `bin`
 * folder. Throws where the packages cannot be had.
 */
export function pythonEnvironment(requirements: string): string {
  const version = execFileSync(PYTHON, ['-c', 'import platform; print(platform.python_version())'], {
    encoding: 'utf8',
  }).trim();
  const folder = join(CACHE, version);
  const stamp = join(folder, 'installed.txt');
  const pinned = readFileSync(requirements, 'utf8');
  const bin = join(folder, 'bin');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === pinned) return bin;
  console.error(`Installing what the Python client is tested with, for Python ${version} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  makeEnvironment(folder);
  execFileSync(join(bin, 'pip'), [...PIP, '--requirement', requirements]);
  // Written last: an installation that was cut off is begun again.
  writeFileSync(stamp, pinned);
  return bin;
}

/** An empty virtual environment, which has pip. */
export function makeEnvironment(folder: string): void {
  execFileSync(PYTHON, ['-m', 'venv', folder]);
}

/** Puts a wheel in the place of an older one of the same version. Its dependencies are those of the environment. */
export function installWheel(bin: string, wheel: string): void {
  execFileSync(join(bin, 'pip'), [...PIP, '--force-reinstall', '--no-deps', wheel]);
}

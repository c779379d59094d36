import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEnvironment } from './environment.ts';

const SOURCE = 'clients/python';
/** What the wheel is made of; the licence lies at the top of the tree. */
const PARTS = ['pyproject.toml', 'README.md', 'src'];

/** Builds the wheel of the Python client with the builder that its pyproject.toml pins. Returns its path. */
export function buildWheel(target: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-wheel-'));
  try {
    const source = join(folder, 'source');
    for (const part of PARTS) cpSync(join(SOURCE, part), join(source, part), { recursive: true });
    cpSync('LICENSE', join(source, 'LICENSE'));
    // Not the system's pip, which Debian leaves out.
    makeEnvironment(join(folder, 'environment'));
    const args = ['wheel', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps', '--wheel-dir', target];
    execFileSync(join(folder, 'environment/bin/pip'), [...args, source], { stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [wheel] = globSync(join(target, 'tollgate_client-*.whl'));
  if (wheel === undefined) throw new Error(`pip has made no wheel in ${target}`);
  return wheel;
}

// Makes the packages that are published: packages/<name>/dist holds JavaScript and declarations, compiled from src/, with a
// package.json that leads to them, and `npm pack` makes a .tgz of it. The tree itself uses the TypeScript. Of clients/python it
// makes a wheel, where Python is there. Argument: the folder for them, the present one unless given. --npm leaves the wheel out.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hasPython } from './python/environment.ts';
import { buildWheel } from './python/wheel.ts';

/** In the order in which they need each other. */
const LIBRARIES = ['client', 'ai-sdk-provider'] as const;

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { npm: { type: 'boolean' } }, allowPositionals: true });
  const target = resolve(positionals[0] ?? '.');
  for (const name of LIBRARIES) console.log(packLibrary(name, target));
  if (values.npm !== true) packWheel(target);
}

function packWheel(target: string): void {
  if (hasPython()) console.log(buildWheel(target));
  else console.error('No wheel was made: it needs python3 with venv. On Debian: apt-get install python3-venv.');
}

/** Returns the path of the .tgz. */
function packLibrary(name: (typeof LIBRARIES)[number], target: string): string {
  const source = join('packages', name);
  const dist = join(source, 'dist');
  rmSync(dist, { recursive: true, force: true });
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', source], { stdio: 'inherit' });
  const { private: _, exports: __, ...fields } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const entry = { types: './index.d.ts', default: './index.js' };
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...fields, exports: entry }, undefined, 2)}\n`);
  copyFileSync(join(source, 'README.md'), join(dist, 'README.md'));
  copyFileSync('LICENSE', join(dist, 'LICENSE'));
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
    cwd: dist,
    encoding: 'utf8',
  });
  return join(target, fileNameIn(packed));
}

function fileNameIn(packed: string): string {
  const [name] = /[\w.-]+\.tgz/.exec(packed) ?? [];
  if (name === undefined) throw new Error(`npm pack told no file: ${packed}`);
  return name;
}

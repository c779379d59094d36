// The console's files that the gateway serves, built from console/ when its sources are not those of the last build.
// Plain JavaScript on purpose, as ensure.mjs, which runs on whatever Node is there.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Below console/, the tables of error codes and of a job's faults, whose words the console shows, and the documents.
const SOURCES = [
  'src',
  'text',
  'docs',
  'public',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../src/error-table.ts',
  '../src/jobs/faults.ts',
  '../docs',
];
/** Below docs/ and not served. */
const NOT_SERVED = /\/adr$|\.png$/;

/** Whether the files are those of these sources. An installation without the bundler serves what it was shipped with. */
export function isConsoleBuilt(root) {
  if (!existsSync(viteOf(root))) return true;
  try {
    return readFileSync(markOf(root), 'utf8') === digestOfSources(root);
  } catch {
    return false;
  }
}

export async function buildConsole(root) {
  const digest = digestOfSources(root);
  const node = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const runtime = existsSync(node) ? node : process.execPath;
  const child = spawn(runtime, [viteOf(root), 'build', '--logLevel', 'warn'], {
    cwd: join(root, 'console'),
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (status) => resolve(status ?? 1));
  });
  if (code === 0) writeFileSync(markOf(root), digest);
  return code;
}

function viteOf(root) {
  return join(root, 'node_modules', 'vite', 'bin', 'vite.js');
}

function markOf(root) {
  return join(root, 'console', 'dist', '.sources');
}

function digestOfSources(root) {
  const hash = createHash('sha256');
  for (const source of SOURCES) addTo(hash, join(root, 'console', source), source);
  return hash.digest('hex');
}

function addTo(hash, path, name) {
  let entries;
  try {
    entries = readdirSync(path).sort();
  } catch {
    hash.update(`${name}\0`).update(readFileSync(path)).update('\0');
    return;
  }
  for (const entry of entries) {
    if (!NOT_SERVED.test(`${name}/${entry}`)) addTo(hash, join(path, entry), `${name}/${entry}`);
  }
}

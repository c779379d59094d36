// Makes `npm start` and `npm test` enough on a bare machine: installs from the lockfile when node_modules is
// missing or older than it. Plain JavaScript on purpose: it runs on whatever Node is there, before ours is.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');

if (!isCurrent()) await install();

function isCurrent() {
  try {
    return statSync(join(modules, '.package-lock.json')).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
  } catch {
    return false;
  }
}

async function install() {
  const locked = Object.keys(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages).length - 1;
  console.log(
    `Installing up to ${locked} packages from package-lock.json; this happens once and takes about a minute.`,
  );
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const progress = setInterval(() => console.log(`  ${countPackages()} packages unpacked, ${seconds()} s`), 3000);
  const code = await runNpmCi();
  clearInterval(progress);
  if (code !== 0) {
    console.error(
      'Could not install the packages. Check that the npm registry can be reached, then run the command again.',
    );
    process.exit(code);
  }
  console.log(`Installed ${countPackages()} packages in ${seconds()} s.`);
}

/** No install script is needed: what the packages leave undone, the database launcher does itself. */
function runNpmCi() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const child = spawn(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

function countPackages() {
  const names = (folder) => {
    try {
      return readdirSync(folder).filter((name) => !name.startsWith('.'));
    } catch {
      return [];
    }
  };
  return names(modules).reduce((sum, name) => sum + (name.startsWith('@') ? names(join(modules, name)).length : 1), 0);
}

// Makes `npm start` and `npm test` enough on a bare machine: installs from the lockfile when node_modules is not what
// that wants, and builds the console. Plain JavaScript on purpose: it runs on whatever Node is there, before ours is.
// With --to-run, a production installation (docs/operating.md) is enough, and is renewed as one.
import { spawn } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole, isConsoleBuilt } from './console-build.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const turn = join(root, '.installing');
const isToRun = process.argv.includes('--to-run');
let hasTurn = false;

for (let turns = 0; !isCurrent() || !isConsoleBuilt(root); turns++) {
  if (takeTurn()) {
    if (!isCurrent()) await install();
    if (!isConsoleBuilt(root)) await build();
  } else {
    if (turns === 0) console.log('Waiting for another command that is installing the packages.');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Two commands at once must not install over each other. A turn whose process is gone is over. */
function takeTurn() {
  // Sources that changed during the build are built once more, in the same turn.
  if (hasTurn) return true;
  const mine = `${turn}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, turn);
    hasTurn = true;
    process.on('exit', () => rmSync(turn, { force: true }));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isRunning(ownerOfTurn())) rmSync(turn, { force: true });
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function ownerOfTurn() {
  try {
    return Number(readFileSync(turn, 'utf8'));
  } catch {
    return process.pid;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Compares what npm says it installed with what the lockfile wants; times of files say little after a checkout. */
function isCurrent() {
  try {
    const wanted = readPackages(join(root, 'package-lock.json'));
    const installed = readPackages(join(modules, '.package-lock.json'));
    const isWanted = ([path, { version, integrity }]) =>
      wanted[path]?.version === version && wanted[path]?.integrity === integrity;
    const isThere = ([path, { optional }]) => path === '' || optional === true || path in installed;
    if (!Object.entries(installed).every(isWanted)) return false;
    return isToRun && isProduction(installed)
      ? ['', ...workspacesIn(installed)].every((folder) => hasDependencies(wanted[folder], folder, installed))
      : Object.entries(wanted).every(isThere);
  } catch {
    return false;
  }
}

/** npm writes its list of what it installed at the end, so a list without development packages is no half of one. */
function isProduction(installed) {
  return !Object.values(installed).some(({ dev }) => dev === true);
}

function workspacesIn(installed) {
  return Object.values(installed).flatMap(({ link, resolved }) => (link === true ? [resolved] : []));
}

/** Direct ones are enough: what these need themselves was installed with them, in the version that they have. */
function hasDependencies({ dependencies = {} }, folder, installed) {
  const isInstalled = (name) => join(folder, 'node_modules', name) in installed || `node_modules/${name}` in installed;
  return Object.keys(dependencies).every(isInstalled);
}

/** What the installation that is there was made with, so that an upgrade brings back nothing that was left out. */
function installOptions() {
  try {
    const installed = readPackages(join(modules, '.package-lock.json'));
    if (!isToRun || !isProduction(installed)) return [];
    return workspacesIn(installed).length === 0 ? ['--omit=dev', '--no-workspaces'] : ['--omit=dev'];
  } catch {
    return [];
  }
}

function readPackages(lockfile) {
  return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
}

async function install() {
  const locked = Object.keys(readPackages(join(root, 'package-lock.json'))).length - 1;
  console.log(
    `Installing up to ${locked} packages from package-lock.json; this happens once and takes about a minute.`,
  );
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const endProgress = showProgress(() => `  ${countPackages()} of ${locked} packages unpacked, ${seconds()} s`);
  const code = await runNpmCi();
  endProgress();
  if (code !== 0) {
    console.error(
      'Could not install the packages. Check that the npm registry can be reached, then run the command again.',
    );
    process.exit(code);
  }
  console.log(`Installed ${countPackages()} packages in ${seconds()} s.`);
  if (!isCurrent()) throw new Error('npm installed something other than package-lock.json says');
}

async function build() {
  const started = Date.now();
  const code = await buildConsole(root);
  if (code !== 0) {
    console.error('Could not build the console. The lines above say why.');
    process.exit(code);
  }
  console.log(`Built the console in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}

/** On a terminal one line that moves; elsewhere, as in the log of a build, a line now and then. */
function showProgress(lineNow) {
  const isTerminal = process.stdout.isTTY === true;
  const show = () => (isTerminal ? process.stdout.write(`\r${lineNow()}\x1b[K`) : console.log(lineNow()));
  const timer = setInterval(show, isTerminal ? 500 : 10_000);
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stdout.write('\r\x1b[K');
  };
}

/** No install script is needed: what the packages leave undone, the database launcher does itself. */
function runNpmCi() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  const child = spawn(npm, ['ci', ...installOptions(), '--ignore-scripts', ...quiet], {
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

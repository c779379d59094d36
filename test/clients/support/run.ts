import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programFolder } from '../../../scripts/clients/install.ts';
import { clientProgram } from '../versions.ts';
import { Steps } from './steps.ts';
import type { ClientWorld } from './world.ts';

const SCRIPTS = fileURLToPath(new URL('../scripts/', import.meta.url));
/** A program that runs longer hangs: one that waits for the internet, say. */
const RUN_MS_MAX = 10 * 60_000;

export interface ProgramRun {
  /** A path in the program's folder, such as `node_modules/.bin/codex` or `bin/llm`. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files in its home before it starts, by their paths there. */
  readonly files?: Readonly<Record<string, string>>;
  /** Where it starts, below its home. */
  readonly cwd?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs an installed program to its end, in an empty home, with these settings and no others of this process. */
export async function runProgram(t: TestContext, world: ClientWorld, name: string, run: ProgramRun): Promise<Ended> {
  const folder = programFolder(name);
  const home = mkdtempSync(join(tmpdir(), 'tollgate-client-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(run.files ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const cwd = join(home, run.cwd ?? '.');
  mkdirSync(cwd, { recursive: true });
  const bins = [join(folder, 'node_modules/.bin'), join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'];
  const env = {
    ...world.outside.environment,
    PATH: bins.join(':'),
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: 'C.UTF-8',
    PYTHONDONTWRITEBYTECODE: '1',
    ...run.env,
  };
  const child = spawn(resolve(folder, run.command), run.args ?? [], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what it has started ends with it.
    detached: true,
  });
  const endGroup = () => killGroup(child.pid);
  const timer = setTimeout(endGroup, RUN_MS_MAX);
  child.once('exit', endGroup);
  const [[code], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  clearTimeout(timer);
  return { code, out, err };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Every process of the group has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/**
 * Runs the script of a library, test/clients/scripts/NAME.mjs or NAME.py, and reads the line that each of its steps prints.
 * Scripts in JavaScript are copied beside the library, from where its imports are found.
 */
export async function runScript(
  t: TestContext,
  world: ClientWorld,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<Steps> {
  const isNpm = clientProgram(name).from === 'npm';
  const folder = programFolder(name);
  if (isNpm) {
    for (const file of globSync(join(SCRIPTS, '*.mjs'))) copyFileSync(file, join(folder, basename(file)));
  }
  const run = isNpm
    ? { command: process.execPath, args: [join(folder, `${name}.mjs`)], env }
    : { command: 'bin/python', args: [join(SCRIPTS, `${name}.py`)], env };
  return new Steps(name, await runProgram(t, world, name, run));
}

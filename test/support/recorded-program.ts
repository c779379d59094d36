import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Environment } from '../../src/config.ts';
import { workFolder } from './postgres.ts';
import { Program, SERVE } from './program.ts';

const HOOK = new URL('./loaded-modules.ts', import.meta.url).href;

/** The real program, and the addresses of the modules that it has loaded by now. */
export async function startRecorded(t: TestContext, settings: Environment) {
  const record = join(workFolder(t), 'loaded');
  const [node = '', ...rest] = SERVE;
  const program = await Program.start(t, { ...settings, LOADED_MODULES: record }, [node, '--import', HOOK, ...rest]);
  return { program, modules: (): string[] => readFileSync(record, 'utf8').split('\n') };
}

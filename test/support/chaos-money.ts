import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What the campaign prints at its end. Throws what it prints where it finds something. */
export async function chaosOfMoney(kills: number): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['test/chaos/money.ts', '--kills', String(kills)]);
  return stdout;
}

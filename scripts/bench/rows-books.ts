// How long the whole books take, and what memory: `tollgate books verify` beside a gateway that rests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setInterval } from 'node:timers';
import type { Gateway } from './gateway.ts';
import { cpuMicrosOf, residentBytesOf } from './processes.ts';
import type { Row } from './table.ts';

const MIB = 1024 * 1024;
const LOOK_EVERY_MS = 100;

export async function bookRows(tree: string, gateway: Gateway, entries: number): Promise<Row[]> {
  const begun = performance.now();
  const databaseBefore = gateway.used().databaseMicros;
  const child = spawn(process.execPath, [join(tree, 'src/main.ts'), 'books', 'verify', '--json'], {
    env: { PATH: process.env.PATH, TOLLGATE_DATA: gateway.folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [peak, cpuMicros] = [0, 0];
  const looks = setInterval(() => {
    if (child.pid === undefined || !existsSync(`/proc/${child.pid}`)) return;
    cpuMicros = cpuMicrosOf([child.pid]);
    const { peak: most } = residentBytesOf(child.pid);
    // Nothing is told of one that has just ended.
    if (most > peak) peak = most;
  }, LOOK_EVERY_MS);
  const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  clearInterval(looks);
  if (code !== 0) throw new Error(`the books ended with ${code}: ${report.slice(0, 1_000)}`);
  const seconds = (performance.now() - begun) / 1000;
  cpuMicros += gateway.used().databaseMicros - databaseBefore;
  const row = (measure: string, tollgate: number): Row => ({
    measure: `${entries.toLocaleString('en')} entries: ${measure}`,
    bare: undefined,
    tollgate,
    ratio: '',
    goal: '',
  });
  return [
    row('books verify, seconds', seconds),
    row('processor µs per entry, with the database', cpuMicros / entries),
    row('its memory at most, MiB', peak / MIB),
  ];
}

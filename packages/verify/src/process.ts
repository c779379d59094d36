// The whole program, which ends, halts or stops itself at a kill point when its driver orders it. It reads its own log, where
// `killPoint` writes: the program does nothing else for this.
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { pino } from 'pino';
import type { KillPoint } from '../../../src/kill-point.ts';
import { applyEdits } from './edits.ts';

/** From the driver: to begin, once it has read its modules; where to end, halt or stop; or not to after all. */
export type Command = 'begin' | Order | 'go on';

export interface Order {
  readonly point: KillPoint;
  /** How often the point is passed before. */
  readonly passes: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM';
}

/** To the driver, one JSON line each: it must be out before the signal takes effect. */
export type Report =
  | { readonly report: 'ready'; readonly url: string }
  | { readonly report: 'reached'; readonly signal: Order['signal'] }
  | { readonly report: 'error'; readonly line: string };

const ERROR_LEVEL = 50;
/** What is under way when it is told to stop is given this long. */
const STOP_MS = 300;

let order: Order | undefined;
let passed = 0;

function report(line: Report): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Reads each line of the log. */
function readLine(line: string): void {
  const { level, kill_point } = JSON.parse(line) as { level: number; kill_point?: KillPoint };
  if (level >= ERROR_LEVEL) report({ report: 'error', line });
  if (order === undefined || kill_point !== order.point || passed++ < order.passes) return;
  const { signal } = order;
  order = undefined;
  report({ report: 'reached', signal });
  process.kill(process.pid, signal);
}

// Without its driver it has no purpose.
process.once('disconnect', () => process.exit());
const begun = Promise.withResolvers<void>();
process.on('message', (command: Command) => {
  if (command === 'begin') begun.resolve();
  else [order, passed] = [command === 'go on' ? undefined : command, 0];
});
applyEdits(JSON.parse(process.argv[2] ?? '[]'));
const [{ startApp }, { loadConfig }] = await Promise.all([
  import('../../../src/app.ts'),
  import('../../../src/config.ts'),
]);
// Otherwise only a process that ends in order would leave what it compiled to the next.
flushCompileCache();
await begun.promise;
const log = pino({ level: 'trace', base: null }, { write: readLine });
const app = await startApp({ config: loadConfig(process.env), environment: {}, log, progress: () => undefined });
process.once('SIGTERM', () => void app.stop(STOP_MS).finally(() => process.exit()));
report({ report: 'ready', url: app.url });

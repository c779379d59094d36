// The whole program in a process of its own, started with the flags of `npm start`. It reports errors of its log and what
// never reached one, and how much memory is in use after a collection.
import { applyEdits } from '../../packages/verify/src/edits.ts';
import { BLOCKED_MS } from './goals.ts';

export type Question = 'memory' | 'stop';

export type GatewayReport =
  | { readonly report: 'ready'; readonly url: string }
  | { readonly report: 'error'; readonly line: string }
  /** So much processor time of the main thread went by before the event loop came round. */
  | { readonly report: 'blocked'; readonly ms: number }
  | { readonly report: 'memory'; readonly usedBytes: number; readonly residentBytes: number; readonly cpuMs: number };

const ERROR_LEVEL = 50;
const STOP_MS = 2_000;
const TURN_MS = 20;

function tell(report: GatewayReport): void {
  process.send?.(report);
}

function readLine(line: string): void {
  // Parsed only where it matters: there is a line for each request.
  if (/^\{"level":[56]0/.test(line)) tell({ report: 'error', line: line.slice(0, 4_000) });
}

function tellMemory(): void {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  tell({ report: 'memory', usedBytes: heapUsed + external, residentBytes: rss, cpuMs: (user + system) / 1_000 });
}

/**
 * Measures stalls by processor time, which other programs on the machine do not change: what the main thread used between
 * two turns of a timer, it used without letting anything else run.
 */
function watchEventLoop(): void {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    const ms = (now.user + now.system - before.user - before.system) / 1_000;
    before = now;
    if (ms >= BLOCKED_MS) tell({ report: 'blocked', ms });
  }, TURN_MS).unref();
}

process.once('disconnect', () => process.exit());
process.on('uncaughtExceptionMonitor', (error, origin) => {
  tell({ report: 'error', line: `${origin}: ${error instanceof Error ? error.stack : String(error)}` });
});
applyEdits(JSON.parse(process.argv[2] ?? '[]'));
const [{ startApp }, { loadConfig }, { pino }] = await Promise.all([
  import('../../src/app.ts'),
  import('../../src/config.ts'),
  import('pino'),
]);
const log = pino({ level: 'info', base: null, timestamp: false }, { write: readLine });
if (log.levels.values.error !== ERROR_LEVEL) throw new Error('errors have another level');
const app = await startApp({ config: loadConfig(process.env), environment: {}, log, progress: () => undefined });
process.on('message', (question: Question) => {
  if (question === 'memory') tellMemory();
  else void app.stop(STOP_MS).finally(() => process.exit());
});
watchEventLoop();
tell({ report: 'ready', url: app.url });

// Asks a gateway for its health every tenth of a second, from a process of its own, whether or not the last was answered.
import { Agent, request } from 'node:http';
import { STALL_MS_MAX } from './goals.ts';

/** To the driver, when it asks. */
export interface ProbeReport {
  readonly asked: number;
  readonly longestMs: number;
  /** Answers that took longer than the goal. */
  readonly late: number;
  /** Not answered, or not with 200. */
  readonly failed: number;
  /** How much later than planned this process itself came to run: what the machine adds to every figure. */
  readonly ownDelayMs: number;
}

const EVERY_MS = 100;
const GIVE_UP_MS = 10_000;

const url = process.argv[2];
const agent = new Agent({ keepAlive: true });
const report = { asked: 0, longestMs: 0, late: 0, failed: 0, ownDelayMs: 0 };

function ask(address: string): void {
  const startedMs = performance.now();
  const done = (isGood: boolean) => {
    const tookMs = performance.now() - startedMs;
    report.longestMs = Math.max(report.longestMs, tookMs);
    if (tookMs > STALL_MS_MAX) report.late++;
    if (!isGood) report.failed++;
  };
  report.asked++;
  const asking = request(address, { agent, timeout: GIVE_UP_MS }, (answer) => {
    answer.resume().once('end', () => done(answer.statusCode === 200));
  });
  asking.on('timeout', () => asking.destroy());
  asking.on('error', () => done(false)).end();
}

if (url !== undefined) {
  let plannedMs = performance.now() + EVERY_MS;
  setInterval(() => {
    const nowMs = performance.now();
    report.ownDelayMs = Math.max(report.ownDelayMs, nowMs - plannedMs);
    plannedMs = nowMs + EVERY_MS;
    ask(`${url}/healthz`);
  }, EVERY_MS);
  process.once('disconnect', () => process.exit());
  process.on('message', () => process.send?.({ ...report }));
}

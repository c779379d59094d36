// Asks a gateway for its health every tenth of a second, from a process of its own, whether or not the last was answered.
// It rests while the gateway is made to collect its garbage for a measurement.
import { Agent, request } from 'node:http';
import { STALL_MS_MAX } from './goals.ts';
import { readyMs, stolenMs, stolenSince } from './stolen.ts';

/** `rest` is answered when nothing is asked for any more. */
export type ProbeOrder = 'report' | 'rest' | 'go on';

/** To the driver, after each order. */
export interface ProbeReport {
  readonly asked: number;
  readonly longestMs: number;
  /** The same without what the machine took away meanwhile: its host, and other programs that had the processors. */
  readonly longestOwnMs: number;
  /** Answers that took longer than the goal, and of them those that would have with a processor of its own as well. */
  readonly late: number;
  readonly lateOwn: number;
  /** Not answered, or not with 200. */
  readonly failed: number;
  /** How much later than planned this process itself came to run: what the machine adds to every figure. */
  readonly ownDelayMs: number;
}

const EVERY_MS = 100;
const GIVE_UP_MS = 10_000;

const [, , url, pid] = process.argv;
const agent = new Agent({ keepAlive: true });
const report = { asked: 0, longestMs: 0, longestOwnMs: 0, late: 0, lateOwn: 0, failed: 0, ownDelayMs: 0 };
let isResting = false;
let pending = 0;

function ask(address: string): void {
  const [startedMs, stolen, ready] = [performance.now(), stolenMs(), readyMs(Number(pid))];
  const done = (isGood: boolean) => {
    const tookMs = performance.now() - startedMs;
    const [hostMs, othersMs] = [stolenSince(stolen), readyMs(Number(pid)) - ready];
    const ownMs = tookMs - hostMs - othersMs;
    report.longestMs = Math.max(report.longestMs, tookMs);
    report.longestOwnMs = Math.max(report.longestOwnMs, ownMs);
    if (ownMs > STALL_MS_MAX) report.lateOwn++;
    if (tookMs > STALL_MS_MAX) {
      report.late++;
      const taken = `the host took ${hostMs} and others had the processors for ${othersMs.toFixed(0)}`;
      console.error(`late: /healthz after ${tookMs.toFixed(0)} ms, of which ${taken}`);
    }
    if (!isGood) report.failed++;
    pending--;
    if (isResting && pending === 0) tell();
  };
  report.asked++;
  pending++;
  const asking = request(address, { agent, timeout: GIVE_UP_MS }, (answer) => {
    answer.resume().once('end', () => done(answer.statusCode === 200));
  });
  asking.on('timeout', () => asking.destroy());
  asking.on('error', () => done(false)).end();
}

function tell(): void {
  process.send?.({ ...report });
}

function obey(order: ProbeOrder): void {
  if (order !== 'report') isResting = order === 'rest';
  if (order !== 'rest' || pending === 0) tell();
}

if (url !== undefined) {
  let plannedMs = performance.now() + EVERY_MS;
  setInterval(() => {
    const nowMs = performance.now();
    report.ownDelayMs = Math.max(report.ownDelayMs, nowMs - plannedMs);
    plannedMs = nowMs + EVERY_MS;
    if (!isResting) ask(`${url}/healthz`);
  }, EVERY_MS);
  process.once('disconnect', () => process.exit());
  process.on('message', obey);
}

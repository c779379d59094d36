import { readFileSync } from 'node:fs';

/** USER_HZ, the unit of times in /proc. */
const TICK_MS = 10;

/** How long the host has kept each processor of a virtual machine from running. None where that is not told. */
export function stolenMs(): readonly number[] {
  try {
    const lines = readFileSync('/proc/stat', 'utf8').split('\n');
    const processors = lines.filter((line) => /^cpu\d/.test(line)).map((line) => line.split(' '));
    return processors.map((times) => Number(times[8] ?? 0) * TICK_MS);
  } catch {
    return [];
  }
}

/** Of the processor that lost the most since then. What waits meanwhile is held up by the host and not by the program. */
export function stolenSince(before: readonly number[]): number {
  return Math.max(0, ...stolenMs().map((ms, processor) => ms - (before[processor] ?? ms)));
}

/**
 * How long the main thread of a process has stood ready while others had the processors: on a machine that it shares with
 * its database, its callers and its upstreams. None where that is not told.
 */
export function readyMs(pid: number): number {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}

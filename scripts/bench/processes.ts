import { readFileSync } from 'node:fs';

/** USER_HZ, the unit of times in /proc, is 100 on every architecture that Node runs on. */
const TICK_MICROS = 10_000;

/** A process and all that it started, their children included. */
export function processTree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

export function childrenOf(pid: number): number[] {
  return procFile(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

export function commandOf(pid: number): string {
  return procFile(`${pid}/comm`).trim();
}

/**
 * Processor time of these processes, user and system, all threads. Those of their children that have ended and were waited
 * for are part of it: a database counts its closed sessions.
 */
export function cpuMicrosOf(pids: readonly number[]): number {
  const ticks = pids.flatMap((pid) => {
    const stat = procFile(`${pid}/stat`);
    // The command's name, in parentheses, may contain spaces. From the state on: utime, stime, cutime, cstime are 11 to 14.
    const times = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return times.slice(11, 15).map(Number);
  });
  return ticks.reduce((sum, time) => sum + time, 0) * TICK_MICROS;
}

/** Resident memory of one process now, and the most there ever was. */
export function residentBytesOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = procFile(`${pid}/status`);
  const bytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** Processor time of the whole machine since it was started. */
export function machineMicros(): { readonly all: number; readonly busy: number; readonly stolen: number } {
  const [line = ''] = procFile('stat').split('\n');
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0] = times;
  const busy = user + nice + system + irq + softirq;
  const all = busy + idle + iowait + stolen;
  return { all: all * TICK_MICROS, busy: busy * TICK_MICROS, stolen: stolen * TICK_MICROS };
}

/** Empty for a process that has just ended: its time is then that of its parent. */
function procFile(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

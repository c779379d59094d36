import { existsSync, readFileSync } from 'node:fs';
import type { Program } from './program.ts';

/** Why a test of memory cannot run here, or false. */
export const skipMemory = existsSync('/proc/self/status')
  ? false
  : 'this system does not tell how much memory a process has had';

/** What is resident now, or was at the most. */
export function residentBytes({ child }: Program, figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`${figure}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

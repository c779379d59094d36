import { createHash } from 'node:crypto';
import type { Attempt } from './job.ts';

/** Says nothing about the job, and so about where it lies. */
export function outputKey(jobId: string, attempt: number, index: number): string {
  return `outputs/${createHash('sha256').update(`${jobId} ${attempt} ${index}`).digest('hex').slice(0, 40)}`;
}

/** Wherever something of an attempt can lie: each result may have a thumbnail. */
export function outputKeys(jobId: string, { number, count }: Attempt): string[] {
  return Array.from({ length: 2 * count }, (_, index) => outputKey(jobId, number, index));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable } from './errors.ts';

const RETRY_MS_MAX = 60_000;
const RETRY_DELAY_MS = 250;

/**
 * Retries `work` while the database is unavailable, for up to a minute. For what must not be lost to a short outage, such
 * as an upstream's answer. `work` may run more than once.
 */
export async function retryWhileUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const untilMs = performance.now() + RETRY_MS_MAX; ; await sleep(RETRY_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > untilMs) throw error;
    }
  }
}

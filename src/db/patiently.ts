import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable } from './db.ts';

/** With the database away, it is tried again for this long. */
const PATIENCE_MS = 60_000;
const AGAIN_AFTER_MS = 250;

/** For what must not be given up because the database was away for a moment, such as what an upstream has told. */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const untilMs = performance.now() + PATIENCE_MS; ; await sleep(AGAIN_AFTER_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > untilMs) throw error;
    }
  }
}

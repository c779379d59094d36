import { DatabaseUnavailable } from './errors.ts';

/** How long a database that is available and only busy is retried. */
const BUSY_MS_MAX = 10_000;

/**
 * Retries what has certainly not been committed: a lock timeout, a transaction that the server ended because this process
 * stood still in it, a timeout in the pool's queue. After other failures the outcome is unknown.
 */
export async function whileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const untilMs = performance.now() + BUSY_MS_MAX; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isUndone(error) || performance.now() > untilMs) throw error;
    }
  }
}

const UNDONE_STATES: readonly unknown[] = ['55P03', '25P03'];
const UNDONE_MESSAGE = /not queryable$|^timeout exceeded when trying to connect/;

function isUndone(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  return ('code' in cause && UNDONE_STATES.includes(cause.code)) || UNDONE_MESSAGE.test(cause.message);
}

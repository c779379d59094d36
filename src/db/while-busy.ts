import { DatabaseUnavailable } from './db.ts';

/** A database that is there and only busy is asked again for this long. */
const BUSY_MS_MAX = 10_000;

/**
 * Retries what the database certainly has not done: a lock that was not given in time, a transaction that the server ended
 * because this process stood still in it, a wait for one of the pool's connections. Other failures may have been done.
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

/** The database cannot be reached, is starting or stopping, is full, or did not answer in time. */
export class DatabaseUnavailable extends Error {}

/** None of the servers may be used, or this one: a standby, a stale primary, another cluster. The message says which and why. */
export class UnsuitableServer extends Error {}

/** Runs `work`; whatever means that the database is away becomes DatabaseUnavailable, with its cause. */
export async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isUnavailable(error)) throw new DatabaseUnavailable('The database is not available.', { cause: error });
    throw error;
  }
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return sqlState(error) === '23505' && breaks(error, constraint);
}

export function isCheckViolation(error: unknown, constraint: string): boolean {
  return sqlState(error) === '23514' && breaks(error, constraint);
}

function breaks(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint;
}

export function isDeadlock(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error));
}

// Connection exceptions, a login that is no longer accepted, a database that is gone or closed to new connections, lack
// of resources (disk, memory, connections), operator intervention, a lock, a statement or a transaction that timed out, and
// a server that has become read-only after a failover.
const UNAVAILABLE_STATE = /^(08|28|3D|53|57|58)|^(55000|55P03|25006|25P03)$/;
const UNAVAILABLE_SYSTEM_CODE = /^(ECONN|EPIPE|ENOENT|EACCES|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_)/;
const UNAVAILABLE_MESSAGE =
  /^Connection terminated|timeout exceeded when trying to connect|^Query read timeout|not queryable|^Client was closed|^Cannot use a pool after calling end/;

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlState(error);
  return (
    error instanceof UnsuitableServer ||
    UNAVAILABLE_STATE.test(state) ||
    UNAVAILABLE_SYSTEM_CODE.test(state) ||
    UNAVAILABLE_MESSAGE.test(error.message)
  );
}

/** The server refuses a write because it is a standby or was made read-only. */
export function isDemotion(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** The server is being shut down, has crashed or is not up yet: the connection is of no more use. */
export function isShutdown(error: unknown): boolean {
  return /^57P0[123]$/.test(sqlState(error));
}

/** The pool is exhausted: its server answers, and another one would not help. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

import type { Logger } from '../log.ts';
import type { Db } from './db.ts';
import { DatabaseUnavailable } from './errors.ts';

/** Why a database that can be read takes no writes, by SQLSTATE. */
const PROBLEMS: Readonly<Record<string, string>> = {
  '53100': 'its disk is full',
  '58030': 'its disk fails',
  '25006': 'it is read-only',
};

/** SQLSTATE of a lock that was not given in time. */
const LOCKED = '55P03';

/** 'away': the database could not be reached, or did not answer in time. */
type Outcome = 'written' | 'refused' | 'away';

/** Thrown to roll a successful trial back. */
class Rollback extends Error {}

/**
 * Finds out whether the database takes writes that need new pages. Small changes go on for a while on a full disk, in
 * pages that have room, and so do reads: only a trial of its own tells. Its last result is kept, so that a
 * health check does not wait.
 */
export class WriteProbe {
  readonly #db: Db;
  readonly #log: Logger;
  #problem: string | undefined;
  #outcome: Outcome | undefined;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Why it was refused the last time that it was reached; undefined when it could write. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** What became of the last trial; undefined before the first. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  async run(): Promise<void> {
    const state = await this.#try();
    // Another process that tries at the same moment has the same disk.
    if (state === LOCKED) return;
    const problem = PROBLEMS[state];
    this.#outcome = state === 'written' || state === 'away' ? state : 'refused';
    // A database that cannot be reached at all tells nothing of its disk.
    if (state !== 'written' && problem === undefined) return;
    if (problem !== this.#problem) this.#log.warn({ problem: problem ?? null }, 'whether the database takes writes');
    this.#problem = problem;
  }

  /** 'written', 'away', or the SQLSTATE of the refusal. */
  async #try(): Promise<string> {
    try {
      await this.#db.transaction(async (tx) => {
        await tx.run(`set local lock_timeout = '200ms'`);
        // A new file, so that no page of an earlier trial is used again.
        await tx.run('truncate write_probe');
        await tx.run(`insert into write_probe select repeat('x', 2000) from generate_series(1, 64)`);
        throw new Rollback();
      });
    } catch (error) {
      if (error instanceof Rollback) return 'written';
      const isUnavailable = error instanceof DatabaseUnavailable;
      const cause = isUnavailable ? error.cause : error;
      const state = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
      return isUnavailable && state !== LOCKED && PROBLEMS[state] === undefined ? 'away' : state;
    }
    return 'written';
  }
}

import type { Logger } from '../log.ts';
import type { Db } from './db.ts';
import { DatabaseUnavailable } from './errors.ts';

/** Why a database that can be read takes no writes, by SQLSTATE. */
const PROBLEMS: Readonly<Record<string, string>> = {
  '53100': 'its disk is full',
  '58030': 'its disk fails',
  '25006': 'it is read-only',
};

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

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** What the last trial found; undefined when it could write. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** A database that cannot be reached at all tells nothing new: that is for reads to find out. */
  async run(): Promise<void> {
    const state = await this.#try();
    if (state === undefined) return;
    const problem = state === 'written' ? undefined : PROBLEMS[state];
    if (state !== 'written' && problem === undefined) return;
    if (problem !== this.#problem) this.#log.warn({ problem: problem ?? null }, 'whether the database takes writes');
    this.#problem = problem;
  }

  /** 'written', or the SQLSTATE of the refusal. */
  async #try(): Promise<string | undefined> {
    try {
      await this.#db.transaction(async (tx) => {
        // Another process that tries at the same moment has the same disk.
        await tx.run(`set local lock_timeout = '200ms'`);
        // A new file, so that no page of an earlier trial is used again.
        await tx.run('truncate write_probe');
        await tx.run(`insert into write_probe select repeat('x', 2000) from generate_series(1, 64)`);
        throw new Rollback();
      });
    } catch (error) {
      if (error instanceof Rollback) return 'written';
      const cause = error instanceof DatabaseUnavailable ? error.cause : error;
      return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
    }
    return undefined;
  }
}

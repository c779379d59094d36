import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Db, GroupCommit } from '../db/index.ts';
import { insertLines, postUnlocked, vacuumJournal } from './journal-store.ts';
import type { Purse } from './purses.ts';

const LINES_PER_WRITE_MAX = 256;
/** While the database commits one write, the next is prepared; with more at a time, each would be smaller and cost more. */
const WRITES_AT_ONCE_MAX = 2;
/** A line that no caller waits for joins the write of one that a caller does wait for, which halves the writes. */
const DEFER_MS = 5;
/**
 * Posting costs the database about a millisecond, and 60 µs for each call in it. So it is done later and for more calls at a
 * time; a reader of the account posts what is there first, and 400 lines (200 calls) bound what that takes.
 */
const POST_AFTER_MS = 1_000;
const POST_AT_LINES = 400;
/** Autovacuum would come once a minute, and until then the dead tuples of posted lines make the table grow. */
const VACUUM_AT_LINES = 3_000;
/** A database that has committed a line within this time counts as available. */
const RESPONSIVE_MS = 100;

/** One change, made with credits of a purse. */
export interface Line {
  readonly purse: Purse;
  /** See changeJson. */
  readonly change: string;
  /** Of a reservation, the text of its price. */
  readonly price?: string;
}

/**
 * The journal: changes of calls whose credits come from a purse, written by group commit as plain rows. A written line is
 * the durable fact; posting makes entries of lines, in batches, a moment later.
 */
export class Journal {
  readonly #db: Db;
  readonly #writes = new GroupCommit(
    (lines: readonly Line[]) => this.#write(lines),
    LINES_PER_WRITE_MAX,
    0,
    WRITES_AT_ONCE_MAX,
  );
  /** Lines of this process that were not posted yet, and their accounts. */
  #unposted = 0;
  readonly #unpostedAccounts = new Set<string>();
  #postTimer: NodeJS.Timeout | undefined;
  #posting: Promise<unknown> = Promise.resolve();
  /** Lines that were posted since the last vacuum. */
  #unvacuumed = 0;
  #lastWriteMs = Number.NEGATIVE_INFINITY;

  constructor(db: Db) {
    this.#db = db;
  }

  /** How many lines wait to be written. */
  get size(): number {
    return this.#writes.size;
  }

  isResponsive(): boolean {
    return performance.now() - this.#lastWriteMs < RESPONSIVE_MS;
  }

  /**
   * Resolves to whether the line was written: not if its purse has been deleted. Rejects when the outcome is unknown, or the
   * line is not JSON.
   */
  write(line: Line): Promise<boolean> {
    return this.#writes.add(line);
  }

  /** The same for a line that no caller waits for yet; `flush` when one does. */
  writeSoon(line: Line): Promise<boolean> {
    return this.#writes.defer(line, DEFER_MS);
  }

  flush(): void {
    this.#writes.flush();
  }

  /** Waits for the writes in flight, and posts all lines of this process. */
  async close(): Promise<void> {
    while (this.size > 0) await nextTurn();
    if (this.#unposted > 0) this.#post();
    await this.#posting;
  }

  async #write(lines: readonly Line[]): Promise<readonly boolean[]> {
    const written = await insertLines(this.#db, lines);
    this.#lastWriteMs = performance.now();
    for (const { purse } of lines) this.#unpostedAccounts.add(purse.accountId);
    this.#unposted += lines.length;
    if (this.#unposted >= POST_AT_LINES) this.#post();
    else this.#postTimer ??= setTimeout(() => this.#post(), POST_AFTER_MS).unref();
    return lines.map(({ purse }) => written.has(purse.id));
  }

  #post(): void {
    clearTimeout(this.#postTimer);
    this.#postTimer = undefined;
    const accountIds = [...this.#unpostedAccounts];
    this.#unvacuumed += this.#unposted;
    this.#unposted = 0;
    this.#unpostedAccounts.clear();
    // What fails now is posted by the next read of the account, or by the duty of any process.
    this.#posting = this.#posting.then(() => this.#postAndVacuum(accountIds)).catch(() => undefined);
  }

  async #postAndVacuum(accountIds: readonly string[]): Promise<void> {
    await postUnlocked(this.#db, accountIds);
    if (this.#unvacuumed < VACUUM_AT_LINES) return;
    this.#unvacuumed = 0;
    await vacuumJournal(this.#db);
  }
}

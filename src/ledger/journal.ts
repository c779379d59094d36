import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseUnavailable, type Db, type Lane } from '../db/index.ts';
import { catchUpOf, INSERT_MEMBERS, sweepJournal } from './journal-store.ts';
import type { Purse } from './purses.ts';

const LINES_PER_WRITE_MAX = 256;
/** While the database does one, the next is on its way; with more than that, each would be smaller and cost more. */
const WRITES_AT_ONCE_MAX = 2;
/** For so long a hold waits for its end: a short call needs one line only. */
const HOLD_WAITS_MS = 10;
/** Entries are made of many lines in one go, which takes less of the database; of too many, everybody feels it. */
const ENTER_AFTER_MS = 500;
const ENTER_AT_LINES = 100;
/** The database itself would look once a minute, and until then every line is written to a new place. */
const SWEEP_AT_LINES = 3_000;

/** One line of the journal, made when it is written. */
export interface Line {
  readonly purse: Purse;
  /** As JSON; see ledger_apply for its fields. */
  readonly member: () => string;
}

interface Waiting extends Line {
  readonly resolve: (isWritten: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes lines, all that are due in one transaction, and sees to it that entries are made of them. */
export class Journal {
  readonly #db: Db;
  readonly #lane: Lane;
  #due: Waiting[] = [];
  /** Holds, the oldest first. */
  readonly #holds = new Map<Line, Waiting & { readonly dueMs: number }>();
  #isGathering = false;
  #writes = 0;
  #holdsDue: NodeJS.Timeout | undefined;
  /** Lines of which this process has not had entries made, and whose they are. */
  #unentered = 0;
  readonly #unenteredAccounts = new Set<string>();
  /** Lines that were done with since the journal was last swept. */
  #unswept = 0;
  #enterDue: NodeJS.Timeout | undefined;
  #entering: Promise<unknown> = Promise.resolve();
  /** When the database last took a line. */
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(db: Db) {
    this.#db = db;
    this.#lane = db.lane(INSERT_MEMBERS);
  }

  get size(): number {
    return this.#due.length + this.#holds.size;
  }

  /** Whether the database took a line so lately that it will take the next. */
  heardWithin(ms: number): boolean {
    return performance.now() - this.#heardMs < ms;
  }

  /** Resolves to whether it was written, which it is not from a purse that was taken away; rejects when nobody knows. */
  write(line: Line): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#due.push({ ...line, resolve, reject });
      this.#writeDue();
    });
  }

  /** The same for a hold that may wait for its end. */
  writeSoon(line: Line): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#holds.set(line, { ...line, resolve, reject, dueMs: performance.now() + HOLD_WAITS_MS });
      this.#holdsDue ??= setTimeout(() => this.#writeHolds(performance.now()), HOLD_WAITS_MS);
    });
  }

  /** Takes a hold back that is not on its way yet; then its promise never settles. */
  withdraw(line: Line): boolean {
    return this.#holds.delete(line);
  }

  /** Writes what still waits and makes entries of everything. */
  async close(): Promise<void> {
    this.#writeHolds(Number.POSITIVE_INFINITY);
    while (this.#isGathering || this.#writes > 0) await nextTurn();
    if (this.#unentered > 0) this.#enter();
    await this.#entering;
  }

  #writeHolds(untilMs: number): void {
    clearTimeout(this.#holdsDue);
    this.#holdsDue = undefined;
    for (const [line, hold] of this.#holds) {
      if (hold.dueMs > untilMs) {
        this.#holdsDue = setTimeout(() => this.#writeHolds(performance.now()), Math.ceil(hold.dueMs - untilMs));
        break;
      }
      this.#holds.delete(line);
      this.#due.push(hold);
    }
    this.#writeDue();
  }

  #writeDue(): void {
    const mayWrite = !this.#isGathering && this.#writes < WRITES_AT_ONCE_MAX;
    if (mayWrite && this.#due.length > 0) void this.#writeNext();
  }

  async #writeNext(): Promise<void> {
    this.#isGathering = true;
    // A turn of the event loop first: whoever was just answered, or has come with the same packet, can join.
    await nextTurn();
    this.#isGathering = false;
    this.#writes += 1;
    await this.#writeSome(this.#due.splice(0, LINES_PER_WRITE_MAX));
    this.#writes -= 1;
    this.#writeDue();
  }

  async #writeSome(lines: readonly Waiting[]): Promise<void> {
    try {
      const lists = listsOf(lines);
      const counts = await this.#lane.run(lists);
      this.#heardMs = performance.now();
      const written = lists.filter((_list, place) => counts[place] === 1).map(([purseId]) => purseId);
      for (const { purse, resolve } of lines) {
        resolve(written.includes(purse.id));
        this.#unenteredAccounts.add(purse.accountId);
      }
      this.#enterSoon(lines.length);
    } catch (error) {
      // One that is not JSON has kept the others out too: they take the other way, where each stands alone.
      const isAway = error instanceof DatabaseUnavailable;
      for (const { resolve, reject } of lines) {
        if (isAway) reject(error);
        else resolve(false);
      }
    }
  }

  #enterSoon(lines: number): void {
    this.#unentered += lines;
    if (this.#unentered >= ENTER_AT_LINES) this.#enter();
    else this.#enterDue ??= setTimeout(() => this.#enter(), ENTER_AFTER_MS).unref();
  }

  #enter(): void {
    clearTimeout(this.#enterDue);
    this.#enterDue = undefined;
    const accountIds = [...this.#unenteredAccounts];
    this.#unswept += this.#unentered;
    this.#unentered = 0;
    this.#unenteredAccounts.clear();
    // What fails now is done by whoever reads next, or by any process's duty.
    this.#entering = this.#entering.then(() => this.#makeEntries(accountIds)).catch(() => undefined);
  }

  async #makeEntries(accountIds: readonly string[]): Promise<void> {
    await catchUpOf(this.#db, accountIds);
    if (this.#unswept < SWEEP_AT_LINES) return;
    this.#unswept = 0;
    await sweepJournal(this.#db);
  }
}

/** Each purse's id and its lines, as a list in JSON. */
function listsOf(lines: readonly Line[]): readonly (readonly [purseId: string, members: string])[] {
  const members = new Map<string, string>();
  for (const { purse, member } of lines) {
    const before = members.get(purse.id);
    members.set(purse.id, before === undefined ? member() : `${before},${member()}`);
  }
  return Array.from(members, ([purseId, list]) => [purseId, `[${list}]`]);
}

import type { Clock } from '../clock.ts';
import { DatabaseUnavailable, type Db } from '../db/index.ts';
import { REQUEST_LINES_HELD_MAX, REQUEST_LINES_PER_STATEMENT } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { RequestLine } from './line.ts';
import { type CountedLine, insertLines, upsertLines } from './store.ts';

interface RequestLogDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  /** For how many days rows are kept; 0 keeps no log at all. */
  readonly days: number;
}

/** Refusals of one key, route and code within one minute, as one line that counts them. */
interface Tally {
  readonly line: RequestLine;
  readonly minute: number;
  requests: number;
  isWritten: boolean;
}

const MINUTE_MS = 60_000;

/**
 * Write-behind buffer of the request log. A line costs its request one push onto an array. What is not yet written is lost
 * with the process, and what exceeds the bound is dropped and counted.
 */
export class RequestLog {
  readonly #deps: RequestLogDeps;
  #lines: RequestLine[] = [];
  readonly #tallies = new Map<string, Tally>();
  #dropped = 0;
  #warnedAtMs = Number.NEGATIVE_INFINITY;
  #round: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(deps: RequestLogDeps) {
    this.#deps = deps;
  }

  add(line: RequestLine): void {
    if (this.#deps.days === 0) return;
    if (line.isRepeatable) this.#count(line);
    else this.#hold(line);
  }

  /**
   * Writes every line that was added before this call. One round runs at a time and at most one waits, which all callers
   * share. Called by the clock, before a list is read, and at the end. Throws DatabaseUnavailable, and then the lines are
   * kept.
   */
  flush(): Promise<void> {
    this.#next ??= this.#round
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#round = this.#writeAll();
        return this.#round;
      });
    return this.#next;
  }

  #hold(line: RequestLine): void {
    if (this.#lines.length >= REQUEST_LINES_HELD_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    // A whole batch does not wait for the clock. If it fails, the next flush by the clock tells.
    if (this.#lines.length === REQUEST_LINES_PER_STATEMENT) this.flush().catch(() => undefined);
  }

  #count(line: RequestLine): void {
    const { accountId, keyId = '', endpoint, errorCode = '', createdAt } = line;
    const minute = Math.floor(createdAt.getTime() / MINUTE_MS);
    const subject = `${minute} ${accountId} ${keyId} ${endpoint} ${errorCode}`;
    const tally = this.#tallies.get(subject);
    if (tally !== undefined) {
      tally.requests += 1;
      tally.isWritten = false;
    } else if (this.#tallies.size < REQUEST_LINES_HELD_MAX) {
      this.#tallies.set(subject, { line, minute, requests: 1, isWritten: false });
    } else {
      this.#dropped += 1;
    }
  }

  async #writeAll(): Promise<void> {
    this.#warnOfDropped();
    const lines = this.#lines;
    this.#lines = [];
    for (let start = 0; start < lines.length; start += REQUEST_LINES_PER_STATEMENT) {
      const batch = lines.slice(start, start + REQUEST_LINES_PER_STATEMENT);
      const counted = batch.map((line) => ({ line, requests: 1 }));
      await this.#write(insertLines, counted, () => this.#putBack(lines.slice(start)));
    }
    await this.#writeTallies();
  }

  async #writeTallies(): Promise<void> {
    const minute = Math.floor(this.#deps.clock.nowMs() / MINUTE_MS);
    const changed: Tally[] = [];
    for (const [subject, tally] of this.#tallies) {
      if (!tally.isWritten) changed.push(tally);
      else if (tally.minute < minute) this.#tallies.delete(subject);
    }
    for (let start = 0; start < changed.length; start += REQUEST_LINES_PER_STATEMENT) {
      const batch = changed.slice(start, start + REQUEST_LINES_PER_STATEMENT);
      // Before the statement: a refusal that comes meanwhile marks it again.
      for (const tally of batch) tally.isWritten = true;
      await this.#write(upsertLines, batch, () => {
        for (const tally of changed.slice(start)) tally.isWritten = false;
      });
    }
  }

  /** A batch that the database would not take at any time is dropped: kept, it would hold up all that follow. */
  async #write(write: typeof insertLines, batch: readonly CountedLine[], keep: () => void): Promise<void> {
    try {
      await write(this.#deps.db, batch);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) {
        keep();
        throw error;
      }
      this.#dropped += batch.length;
      this.#deps.log.error({ err: error, lines: batch.length }, 'lines of the request log could not be written');
    }
  }

  /** In front of what has come meanwhile, as far as there is room. */
  #putBack(lines: readonly RequestLine[]): void {
    const room = Math.max(0, REQUEST_LINES_HELD_MAX - this.#lines.length);
    this.#dropped += Math.max(0, lines.length - room);
    this.#lines = [...lines.slice(0, room), ...this.#lines];
  }

  #warnOfDropped(): void {
    const nowMs = this.#deps.clock.nowMs();
    if (this.#dropped === 0 || nowMs - this.#warnedAtMs < MINUTE_MS) return;
    this.#deps.log.warn({ dropped: this.#dropped }, 'the request log has lost lines: they came faster than written');
    this.#dropped = 0;
    this.#warnedAtMs = nowMs;
  }
}

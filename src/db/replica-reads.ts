import { atMost, TurnTimeout } from '../at-most.ts';
import { DB_REPORTS_MAX, DB_STATEMENT_TIMEOUT_MS, REPLICA_LOOK_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { Bus } from './bus.ts';
import type { Db, PooledDb, Tx } from './db.ts';
import { DatabaseUnavailable } from './errors.ts';

export interface ReplicaOptions {
  readonly primary: PooledDb;
  /** Undefined where there is none: everything is read from the primary. */
  readonly replica: PooledDb | undefined;
  readonly bus: Bus;
  readonly lagMsMax: number;
  readonly log: Logger;
}

/**
 * Reads that may be a moment old, from a replica where there is one: lists and reports, never what decides. How far it is
 * behind is told by the heartbeat of this process: a row that the bus writes on the primary twice a second and that
 * arrives here by replication, whatever the kind of it and whyever it stops. While the replica is away or further behind
 * than the bound, the primary is read. What writes goes to the primary always.
 *
 * A few statements at a time: a report may read millions of rows, and a dozen of them would take every connection and
 * every processor from the calls.
 */
export class ReplicaReads implements Db {
  readonly #options: ReplicaOptions;
  readonly #inTurn = atMost(DB_REPORTS_MAX, DB_STATEMENT_TIMEOUT_MS);
  readonly #timer: NodeJS.Timeout | undefined;
  /** The time of this process up to which the replica has everything. */
  #caughtUpMs = Number.NEGATIVE_INFINITY;
  #wasUsable: boolean | undefined;
  #counts = { replica: 0, primary: 0 };

  constructor(options: ReplicaOptions) {
    this.#options = options;
    if (options.replica !== undefined) this.#timer = setInterval(() => void this.#look(), REPLICA_LOOK_MS).unref();
  }

  /** Undefined without a replica. */
  get figures():
    | { readonly replica: number; readonly primary: number; readonly lagMs: number | undefined }
    | undefined {
    if (this.#options.replica === undefined) return undefined;
    return { ...this.#counts, lagMs: Number.isFinite(this.#caughtUpMs) ? this.#lagMs : undefined };
  }

  get warnings(): readonly string[] {
    if (this.#wasUsable !== false) return [];
    return [
      'The replica of DATABASE_REPLICA_URL is away or too far behind: lists and reports are read from the primary.',
    ];
  }

  async rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.#inTurn(() => this.#read<Row>(statement, values));
    } catch (error) {
      if (error instanceof TurnTimeout) throw new DatabaseUnavailable('Too many reports at once.', { cause: error });
      throw error;
    }
  }

  run(statement: string, values?: readonly unknown[]): Promise<number> {
    return this.#options.primary.run(statement, values);
  }

  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return this.#options.primary.transaction(work);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#options.replica?.close();
  }

  async #read<Row>(statement: string, values: readonly unknown[] | undefined): Promise<Row[]> {
    const { primary, replica, log } = this.#options;
    if (replica !== undefined && this.#isUsable) {
      try {
        const rows = await replica.rows<Row>(statement, values);
        this.#counts.replica++;
        return rows;
      } catch (error) {
        // Whatever it was, a conflict with recovery or a table that has not arrived, the primary tells for certain.
        log.warn({ reason: failureText(error) }, 'a read of the replica failed; the primary is read');
      }
    }
    if (replica !== undefined) this.#counts.primary++;
    return primary.rows<Row>(statement, values);
  }

  get #lagMs(): number {
    return performance.now() - this.#caughtUpMs;
  }

  get #isUsable(): boolean {
    return this.#lagMs <= this.#options.lagMsMax;
  }

  async #look(): Promise<void> {
    const { replica, bus, log } = this.#options;
    const [row] = (await replica?.rows<{ seenMs: number }>(SEEN, [bus.processId]).catch(() => [])) ?? [];
    const beat = bus.lastBeat;
    // Both times are the primary's own; only their distance counts.
    if (row !== undefined && beat !== undefined)
      this.#caughtUpMs = beat.begunMs - Math.max(0, beat.seenMs - row.seenMs);
    if (this.#isUsable === this.#wasUsable) return;
    this.#wasUsable = this.#isUsable;
    const lagSeconds = Number.isFinite(this.#lagMs) ? Math.round(this.#lagMs / 1000) : null;
    if (this.#wasUsable) log.info({ lagSeconds }, 'lists and reports are read from the replica');
    else log.warn({ lagSeconds }, 'the replica is away or too far behind; lists and reports are read from the primary');
  }
}

const SEEN = `select (extract(epoch from last_seen) * 1000)::float8 as "seenMs" from processes where id = $1`;

function failureText(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import { postJournal } from '../ledger/index.ts';
import { EXPORT_BYTES_MAX, EXPORT_GRACE_MS, EXPORT_LEASE_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { ObjectStore } from '../storage/index.ts';
import { type ExportedDay, findExport, leaseDay, nextDay, releaseDay, saveExport } from './exports-store.ts';
import { countEntries, entriesOfDay, gzipped } from './ledger-csv.ts';

const DAY_MS = 24 * 3_600_000;

interface ExportDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly objects: ObjectStore;
  readonly log: Logger;
  readonly processId: string;
}

/** Another process took the day over, or this one stops. */
class ExportEnded extends Error {}

/**
 * Writes each day's entries to the object store once the day is over. Any number of processes may run it: a day is written
 * under a lease, by a key that its date makes, and its row is saved by the lease's owner alone. A process that is killed
 * leaves at most an object without a row, which the next one replaces.
 */
export class LedgerExport {
  readonly #deps: ExportDeps;
  readonly #stopping = new AbortController();

  constructor(deps: ExportDeps) {
    this.#deps = deps;
  }

  /**
   * Writes every day that is over and not written, the oldest first. The day before each is counted again: an entry of a
   * process whose clock is far behind may have come late, and then that day is written anew. 'elsewhere' where another process
   * writes the day that is next.
   */
  async run(): Promise<'elsewhere' | undefined> {
    const { db, clock } = this.#deps;
    await postJournal(db, undefined);
    for (;;) {
      const day = await nextDay(db);
      if (day === undefined || msOf(day) + DAY_MS + EXPORT_GRACE_MS > clock.nowMs()) return undefined;
      if (!(await this.#write(day))) return 'elsewhere';
      const before = await findExport(db, dayOf(msOf(day) - DAY_MS));
      if (before !== undefined && (await countEntries(db, before.day)) !== Number(before.entries)) {
        await this.#write(before.day);
      }
    }
  }

  /** Ends a round that is under way; what it had begun is begun again by the next. */
  stop(): void {
    this.#stopping.abort(new ExportEnded('The process stops.'));
  }

  /** Whether it was written here. */
  async #write(day: string): Promise<boolean> {
    const { db, processId, log } = this.#deps;
    if (!(await this.#lease(day))) return false;
    try {
      const exported = await this.#put(day);
      const isSaved = await saveExport(db, processId, exported);
      if (isSaved) log.info({ day, entries: Number(exported.entries) }, 'the ledger of a day was exported');
      return isSaved;
    } catch (error) {
      await releaseDay(db, day, processId).catch(() => undefined);
      if (error instanceof ExportEnded) return false;
      throw error;
    }
  }

  async #put(day: string): Promise<ExportedDay> {
    const { db, clock, objects } = this.#deps;
    let entries = 0;
    let leasedAtMs = clock.nowMs();
    const onPiece = async (count: number) => {
      this.#stopping.signal.throwIfAborted();
      entries += count;
      if (clock.nowMs() - leasedAtMs < EXPORT_LEASE_MS / 3) return;
      if (!(await this.#lease(day))) throw new ExportEnded(`Another process exports ${day}.`);
      leasedAtMs = clock.nowMs();
    };
    const digest = createHash('sha256');
    const objectKey = `ledger-exports/${day}`;
    const body = hashed(gzipped(entriesOfDay(db, day, { onPiece })), digest);
    const options = { mimeType: 'application/gzip', bytesMax: EXPORT_BYTES_MAX, signal: this.#stopping.signal };
    const { bytes } = await objects.put(objectKey, body, options);
    const sha256 = digest.digest('hex');
    return { day, objectKey, entries: BigInt(entries), bytes: BigInt(bytes), sha256, exportedAt: clock.now() };
  }

  #lease(day: string): Promise<boolean> {
    const { db, clock, processId } = this.#deps;
    const now = clock.now();
    return leaseDay(db, day, { owner: processId, now, until: new Date(now.getTime() + EXPORT_LEASE_MS) });
  }
}

async function* hashed(
  body: AsyncIterable<Buffer>,
  digest: { update(piece: Buffer): unknown },
): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    digest.update(piece);
    yield piece;
  }
}

function msOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

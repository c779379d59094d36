import { OffsetClock } from '../clock.ts';
import type { Bus } from './bus.ts';
import type { Db, Queries, Tx } from './db.ts';

/** A clock whose offset is kept with the data, so that every process and every restart lives in the same time. */
export class TestClock extends OffsetClock {
  readonly #db: Db;
  readonly #bus: Bus;
  readonly #onMoved: (() => Promise<void>)[] = [];

  constructor(db: Db, bus: Bus) {
    super();
    this.#db = db;
    this.#bus = bus;
    const reload = () => this.load().catch(() => undefined);
    bus.on('clock', async () => {
      await reload();
      for (const listener of this.#onMoved) await listener();
    });
    bus.onLost(() => void reload());
  }

  /** What has become due by a move is done before the move counts as heard. The listener must not fail. */
  onMoved(listener: () => Promise<void>): void {
    this.#onMoved.push(listener);
  }

  async load(): Promise<void> {
    this.setOffset(await storedOffsetMs(this.#db));
  }

  /** Resolves when every process lives in the new time. Returns the new offset in milliseconds. */
  async advance(byMs: number, record: (tx: Tx) => Promise<void>): Promise<number> {
    const offsetMs = await this.#db.transaction(async (tx) => {
      await tx.run(
        `insert into test_clock (offset_ms) values ($1)
         on conflict (only_row) do update set offset_ms = test_clock.offset_ms + excluded.offset_ms`,
        [byMs],
      );
      await record(tx);
      await this.#bus.announce(tx, 'clock', '');
      return storedOffsetMs(tx);
    });
    this.setOffset(offsetMs);
    await this.#bus.heardByAll();
    return offsetMs;
  }
}

async function storedOffsetMs(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ offset: bigint }>('select offset_ms as offset from test_clock');
  return Number(row?.offset ?? 0n);
}

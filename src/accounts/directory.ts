import { type Bus, DatabaseUnavailable, GroupCommit } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { CALLER_CACHE_ENTRIES_MAX } from '../limits.ts';

const LOOK_UPS_PER_ROUND_MAX = 1_000;

/** The entries found for these digests (base64), by the digest. */
type Find<Entry> = (digests: readonly string[]) => Promise<ReadonlyMap<string, Entry>>;

/**
 * What is behind each secret, by the secret's digest. An entry is a cached copy of rows, used only while the bus guarantees
 * that a change of them would be heard. What does not exist is not cached: any request could fill the cache.
 */
export class Directory<Entry> {
  readonly #bus: Bus;
  /**
   * A batch loader: secrets are looked for together, each at once or in the next round. When entries are forgotten, all of them come, and
   * one by one they would wait for connections until they are refused.
   */
  readonly #lookUps: GroupCommit<string, Entry | undefined>;
  readonly #known = new Map<string, Entry>();
  // Counts everything heard, so that a row read before a change is not remembered after it.
  #changes = 0;

  constructor(bus: Bus, find: Find<Entry>) {
    this.#bus = bus;
    this.#lookUps = new GroupCommit(async (digests: readonly string[]) => {
      const callers = await find(digests);
      return digests.map((digest) => callers.get(digest));
    }, LOOK_UPS_PER_ROUND_MAX);
    bus.onLost(() => this.forget(() => true));
  }

  /** Undefined also when it may not be used without a look into the database. */
  cached(digest: string): Entry | undefined {
    return this.#bus.fresh ? this.#known.get(digest) : undefined;
  }

  /** Throws `identity_unavailable` with the database away. */
  async find(digest: string): Promise<Entry | undefined> {
    const changesBefore = this.#changes;
    const entry = await this.#look(digest);
    if (entry !== undefined && this.#changes === changesBefore) {
      if (this.#known.size >= CALLER_CACHE_ENTRIES_MAX) this.#known.clear();
      this.#known.set(digest, entry);
    }
    return entry;
  }

  forget(matches: (entry: Entry) => boolean): void {
    this.#changes++;
    for (const [digest, entry] of this.#known) if (matches(entry)) this.#known.delete(digest);
  }

  async #look(digest: string): Promise<Entry | undefined> {
    try {
      return await this.#lookUps.add(digest);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw new ApiError('identity_unavailable', { cause: error });
      throw error;
    }
  }
}

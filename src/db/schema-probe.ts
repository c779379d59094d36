import type { Db } from './db.ts';
import { appliedMigrations, type Migration, readMigrations } from './migrate.ts';

/** Tells whether the database has the schema of this release, for the readiness probe. */
export class SchemaProbe {
  readonly #db: Db;
  /** Read once: the files of a running release do not change. */
  #release: Promise<Migration[]> | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Whether every migration of this release is applied. More may be: a newer release migrates before the processes of
   * this one are replaced. Throws DatabaseUnavailable.
   */
  async isApplied(): Promise<boolean> {
    this.#release ??= readMigrations();
    const [release, applied] = await Promise.all([this.#release, appliedMigrations(this.#db)]);
    const digests = new Map(applied.map(({ number, digest }) => [number, digest]));
    return release.every(({ number, digest }) => digests.get(number) === digest);
  }
}

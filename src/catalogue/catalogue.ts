import type { CatalogueParts } from './parts.ts';
import { openSecrets } from './sealed-secrets.ts';
import { Snapshot } from './snapshot.ts';
import { modelCreationTimes, newestVersion, publicListSince } from './store.ts';

/** Holds the configuration in force, and takes up each new one as soon as any process has applied it. */
export class Catalogue {
  readonly #parts: CatalogueParts;
  #snapshot: Snapshot = new Snapshot({
    version: 0n,
    document: { upstreams: [], models: [] },
    secrets: new Map(),
    createdAt: new Map(),
    publicSince: new Date(0),
  });

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
    const reload = () => this.reload().catch((error) => this.#keepOld(error));
    parts.bus.on('config', reload);
    parts.bus.onLost(() => void reload());
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Takes up the newest version; harmless when repeated. */
  async reload(): Promise<void> {
    const newest = await newestVersion(this.#parts.db);
    if (newest === undefined || newest.version <= this.#snapshot.version) return;
    const ids = newest.document.models.map((model) => model.id);
    const loaded = new Snapshot({
      version: newest.version,
      document: newest.document,
      secrets: openSecrets(this.#parts, newest),
      createdAt: await modelCreationTimes(this.#parts.db, ids),
      publicSince: (await publicListSince(this.#parts.db)) ?? newest.appliedAt,
    });
    // Two reloads may overlap; the older one must not win.
    if (loaded.version > this.#snapshot.version) this.#snapshot = loaded;
  }

  #keepOld(error: unknown): void {
    this.#parts.log.warn(
      { err: error },
      'the newest configuration could not be loaded; the previous one stays in force',
    );
  }
}

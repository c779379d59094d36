import type { CatalogueDeps } from './deps.ts';
import { openSecrets } from './sealed-secrets.ts';
import { Snapshot } from './snapshot.ts';
import { modelCreationTimes, newestVersion, publicListSince } from './store.ts';
import { loadVendors } from './vendors.ts';

/** Holds the configuration in force, and takes up each new one as soon as any process has applied it. */
export class Catalogue {
  readonly #deps: CatalogueDeps;
  #snapshot: Snapshot = new Snapshot({
    version: 0n,
    document: { upstreams: [], models: [] },
    secrets: new Map(),
    createdAt: new Map(),
    publicSince: new Date(0),
  });

  constructor(deps: CatalogueDeps) {
    this.#deps = deps;
    const reload = () => this.reload().catch((error) => this.#keepOld(error));
    deps.bus.on('config', reload);
    deps.bus.onLost(() => void reload());
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Takes up the newest version, once its vendors are loaded; harmless when repeated. */
  async reload(): Promise<void> {
    const newest = await newestVersion(this.#deps.db);
    if (newest === undefined || newest.version <= this.#snapshot.version) return;
    await loadVendors(this.#deps.vendors, newest.document);
    const ids = newest.document.models.map((model) => model.id);
    const loaded = new Snapshot({
      version: newest.version,
      document: newest.document,
      secrets: openSecrets(this.#deps, newest),
      createdAt: await modelCreationTimes(this.#deps.db, ids),
      publicSince: (await publicListSince(this.#deps.db)) ?? newest.appliedAt,
    });
    // Two reloads may overlap; the older one must not win.
    if (loaded.version > this.#snapshot.version) this.#snapshot = loaded;
  }

  #keepOld(error: unknown): void {
    this.#deps.log.warn(
      { err: error },
      'the newest configuration could not be loaded; the previous one stays in force',
    );
  }
}

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { access, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { DataFolderError, openDataFolder } from '../data-folder.ts';
import { UNFINISHED_OBJECT_KEPT_MS } from '../limits.ts';
import type { RootSecrets } from '../seal.ts';
import { syncFolder } from '../sync-folder.ts';
import { Incoming } from './incoming.ts';
import { Links, type OpenedLink } from './links.ts';
import {
  assertKey,
  asUnavailable,
  type ByteRange,
  type LinkOptions,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
  storageUnavailable,
} from './object-store.ts';
import { isMissing, OpenedFile } from './opened-file.ts';

const SHARDS = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'));
/** Beside the shards and on the same disk, so that a finished object is only renamed. */
const UNFINISHED = 'unfinished';

export interface FolderStoreOptions extends RootSecrets {
  readonly folder: string;
  readonly publicUrl: string;
}

/** Objects as files under the data folder, behind links that the gateway itself serves. */
export class FolderStore implements ObjectStore {
  readonly kind = 'disk';
  readonly #folder: string;
  readonly #links: Links;

  private constructor({ folder, publicUrl, ...secrets }: FolderStoreOptions) {
    this.#folder = folder;
    this.#links = new Links(publicUrl, secrets);
  }

  /** Throws DataFolderError when the folder cannot be used. */
  static async open(options: FolderStoreOptions): Promise<FolderStore> {
    const { folder } = options;
    openDataFolder(folder);
    try {
      // All of them now: a folder made together with its first file would have to be made durable with it.
      for (const name of [UNFINISHED, ...SHARDS]) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
      await syncFolder(folder);
      await syncFolder(join(folder, '..'));
      await removeLeftOvers(join(folder, UNFINISHED));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new DataFolderError(
        `The folder of stored media cannot be used: ${reason}. Choose another with TOLLGATE_DATA.`,
      );
    }
    return new FolderStore(options);
  }

  async put(key: string, body: AsyncIterable<Buffer> | Buffer, options: PutOptions): Promise<{ bytes: number }> {
    const path = this.#pathOf(key);
    const incoming = new Incoming(body, options);
    const draft = join(this.#folder, UNFINISHED, randomUUID());
    try {
      await writeDurably(draft, incoming);
      await rename(draft, path);
      await syncFolder(join(path, '..'));
      return { bytes: incoming.bytes };
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw incoming.failure === undefined ? storageUnavailable(error) : incoming.failure.reason;
    }
  }

  async read(key: string, range?: ByteRange): Promise<StoredObject | undefined> {
    const file = await this.open(key);
    return file === undefined ? undefined : { bytes: file.bytes, body: file.stream(range) };
  }

  /** For callers that must know the object before choosing a part of it. To be streamed or closed. */
  async open(key: string): Promise<OpenedFile | undefined> {
    const path = this.#pathOf(key);
    try {
      return await OpenedFile.open(path);
    } catch (error) {
      if (!isMissing(error)) throw storageUnavailable(error);
      await this.#assertThere(key);
      return undefined;
    }
  }

  async remove(key: string): Promise<void> {
    await this.#assertThere(key);
    await asUnavailable(rm(this.#pathOf(key), { force: true }));
  }

  async link(key: string, options: LinkOptions): Promise<string> {
    await this.#assertThere(key);
    return this.#links.make(key, options);
  }

  keyOfLink(url: string, now: Date): string | undefined {
    return this.#links.keyOf(url, now);
  }

  /** What the link at this path and query says, if it holds. */
  openLink(target: string, now: Date): OpenedLink | undefined {
    return this.#links.open(target, now);
  }

  async close(): Promise<void> {}

  /** With its disk not mounted, the store is away: nothing can be said about what lies in it. */
  async #assertThere(key: string): Promise<void> {
    await asUnavailable(access(join(this.#pathOf(key), '..')));
  }

  /** One file name whatever the slashes, so that `a` and `a/b` do not get in each other's way. */
  #pathOf(key: string): string {
    assertKey(key);
    const shard = createHash('sha256').update(key).digest('hex').slice(0, 2);
    return join(this.#folder, shard, key.replaceAll('/', '.'));
  }
}

async function writeDurably(path: string, incoming: Incoming): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of incoming.chunks()) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What a killed process was writing. Another process on the same folder may be writing now, so not the young ones. */
async function removeLeftOvers(folder: string): Promise<void> {
  // Of the system, as the times of files are, even when the program lives on another clock.
  const oldest = systemClock.nowMs() - UNFINISHED_OBJECT_KEPT_MS;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats !== undefined && stats.mtimeMs < oldest) await rm(path, { force: true });
  }
}

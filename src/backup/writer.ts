import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { HEAD, type Head, MANIFEST } from './layout.ts';
import { BLOCK_BYTES, paddingAfter, tarHeader } from './tar.ts';

/** Writes an archive from its first entry to its last. */
export class ArchiveWriter {
  readonly #file: FileHandle;
  readonly #madeAt: Date;
  readonly #hash = createHash('sha256');
  #rows = 0;
  #objects = 0;

  private constructor(file: FileHandle, madeAt: Date) {
    this.#file = file;
    this.#madeAt = madeAt;
  }

  /** `path` must not exist. Only its owner can read it: it holds secrets. */
  static async create(path: string, madeAt: Date): Promise<ArchiveWriter> {
    return new ArchiveWriter(await open(path, 'wx', 0o600), madeAt);
  }

  async addHead(head: Head): Promise<void> {
    await this.add(HEAD, Buffer.from(JSON.stringify(head)));
  }

  async addRows(name: string, content: Buffer, rows: number): Promise<void> {
    await this.add(name, content);
    this.#rows += rows;
  }

  /** Throws when the body has another length than was said. */
  async addObject(name: string, { bytes, body }: { bytes: number; body: AsyncIterable<Buffer> }): Promise<void> {
    await this.#write(tarHeader({ name, bytes }, this.#seconds));
    let written = 0;
    for await (const chunk of body) {
      await this.#write(chunk);
      written += chunk.length;
    }
    if (written !== bytes) throw new Error(`${name} has ${written} bytes instead of ${bytes}`);
    await this.#write(Buffer.alloc(paddingAfter(bytes)));
    this.#objects++;
  }

  async add(name: string, content: Buffer): Promise<void> {
    await this.#write(tarHeader({ name, bytes: content.length }, this.#seconds));
    await this.#write(content);
    await this.#write(Buffer.alloc(paddingAfter(content.length)));
  }

  /** Ends the archive and makes it durable. */
  async finish(): Promise<{ rows: number; objects: number }> {
    const counts = { rows: this.#rows, objects: this.#objects };
    const sha256 = this.#hash.copy().digest('hex');
    await this.add(MANIFEST, Buffer.from(JSON.stringify({ ...counts, sha256 })));
    await this.#write(Buffer.alloc(2 * BLOCK_BYTES));
    await this.#file.sync();
    await this.close();
    return counts;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  get #seconds(): number {
    return Math.floor(this.#madeAt.getTime() / 1000);
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    await this.#file.writeFile(bytes);
  }
}

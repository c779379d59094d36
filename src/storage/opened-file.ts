import { close, fstat, open, read, type Stats } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { OBJECT_READ_BYTES } from '../limits.ts';
import { countStreamedBytes } from '../memory.ts';
import { type ByteRange, storageUnavailable } from './object-store.ts';

const openFile = promisify(open);
const statFile = promisify(fstat);
const closeFile = promisify(close);

/** A stored file, held open: it can be read to its end even when it is removed or replaced meanwhile. */
export class OpenedFile {
  readonly bytes: number;
  /** Another one whenever the object has been written again. */
  readonly etag: string;
  readonly #descriptor: number;

  private constructor(descriptor: number, { size, mtimeMs, ino }: Stats) {
    this.bytes = size;
    this.etag = `"${[size, Math.round(mtimeMs * 1000), ino].map((part) => part.toString(36)).join('-')}"`;
    this.#descriptor = descriptor;
  }

  static async open(path: string): Promise<OpenedFile> {
    const descriptor = await openFile(path, 'r');
    try {
      return new OpenedFile(descriptor, await statFile(descriptor));
    } catch (error) {
      await closeFile(descriptor);
      throw error;
    }
  }

  /** The file is closed with the stream. */
  stream({ start, end }: ByteRange = { start: 0, end: this.bytes - 1 }): Readable {
    return new FileBody(this.#descriptor, start, Math.min(end + 1, this.bytes));
  }

  async close(): Promise<void> {
    await closeFile(this.#descriptor);
  }
}

/** Unlike a stream of the standard library it knows where it ends, which spares a small file one read in two. */
class FileBody extends Readable {
  readonly #descriptor: number;
  readonly #end: number;
  #at: number;
  #isReading = false;
  #whenRead: (() => void) | undefined;

  constructor(descriptor: number, start: number, end: number) {
    super({ highWaterMark: OBJECT_READ_BYTES });
    this.#descriptor = descriptor;
    this.#at = start;
    this.#end = end;
  }

  override _read(): void {
    const wanted = Math.min(OBJECT_READ_BYTES, this.#end - this.#at);
    if (wanted <= 0) {
      this.push(null);
      return;
    }
    this.#isReading = true;
    read(this.#descriptor, Buffer.allocUnsafeSlow(wanted), 0, wanted, this.#at, (error, bytes, buffer) => {
      this.#isReading = false;
      if (this.#whenRead !== undefined) this.#whenRead();
      else if (error !== null) this.destroy(storageUnavailable(error));
      else if (bytes === 0) this.destroy(storageUnavailable(new Error('a stored file is shorter than it was')));
      else this.#give(buffer.subarray(0, bytes));
    });
  }

  #give(bytes: Buffer): void {
    this.#at += bytes.length;
    countStreamedBytes(bytes.length);
    this.push(bytes);
    if (this.#at >= this.#end) this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const shut = () => close(this.#descriptor, () => done(error));
    // Closed under a running read, its number could by then belong to another file.
    if (this.#isReading) this.#whenRead = shut;
    else shut();
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

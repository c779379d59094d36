import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OBJECT_READ_BYTES } from '../limits.ts';
import type { Readable } from '../media/index.ts';
import { StorageUnavailable } from '../storage/index.ts';

/**
 * A place on disk for what is passed on and looked at afterwards. Its file has no name from the moment it is open, so
 * that a process that is killed leaves nothing behind.
 */
export class Spool implements AsyncDisposable {
  readonly #file: FileHandle;
  #bytes = 0;
  #failure: StorageUnavailable | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Throws StorageUnavailable. */
  static async open(): Promise<Spool> {
    const path = join(tmpdir(), `tollgate-${randomUUID()}`);
    try {
      const file = await open(path, 'wx+', 0o600);
      try {
        await unlink(path);
      } catch (error) {
        await file.close();
        throw error;
      }
      return new Spool(file);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** One after the other. A disk that fails ends nothing here: from then on the spool is not whole and says so when read. */
  async write(piece: Buffer): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      for (let done = 0; done < piece.length; ) {
        const { bytesWritten } = await this.#file.write(piece, done, piece.length - done, this.#bytes + done);
        done += bytesWritten;
      }
      this.#bytes += piece.length;
    } catch (error) {
      this.#failure = unavailable(error);
    }
  }

  /** All that was written. Throws StorageUnavailable if that is not everything. */
  whole(): Readable {
    if (this.#failure !== undefined) throw this.#failure;
    return { bytes: this.#bytes, read: (start, end) => this.#read(start, end) };
  }

  /** The same from its beginning, piece by piece. */
  async *pieces(): AsyncIterable<Buffer> {
    const whole = this.whole();
    for (let at = 0; at < whole.bytes; at += OBJECT_READ_BYTES) {
      yield whole.read(at, Math.min(at + OBJECT_READ_BYTES, whole.bytes));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close().catch(() => undefined);
  }

  async #read(start: number, end: number): Promise<Buffer> {
    const piece = Buffer.allocUnsafe(end - start);
    try {
      for (let done = 0; done < piece.length; ) {
        const { bytesRead } = await this.#file.read(piece, done, piece.length - done, start + done);
        if (bytesRead === 0) throw new Error('the file is shorter than it was');
        done += bytesRead;
      }
      return piece;
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function unavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`temporary file: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

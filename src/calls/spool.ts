import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OBJECT_READ_BYTES, SPOOL_HELD_BYTES_MAX } from '../limits.ts';
import { type ByteSource, byteSourceOf } from '../media/index.ts';
import { StorageUnavailable } from '../storage/index.ts';

/**
 * A place for what is passed on and looked at afterwards: in memory while it is small, from then on in a file. The file
 * has no name from the moment it is open, so that a process that is killed leaves nothing behind.
 */
export class Spool implements AsyncDisposable {
  /** What is not in the file yet. */
  #buffered: Buffer[] = [];
  #heldBytes = 0;
  #file: FileHandle | undefined;
  #fileBytes = 0;
  #failure: StorageUnavailable | undefined;

  /** One after the other. A disk that fails ends nothing here: from then on the spool is not whole and says so when read. */
  async write(piece: Buffer): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#buffered.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes > SPOOL_HELD_BYTES_MAX) await this.#flush();
  }

  /** All that was written. Throws StorageUnavailable if that is not everything. */
  async whole(): Promise<ByteSource> {
    if (this.#file !== undefined) await this.#flush();
    if (this.#failure !== undefined) throw this.#failure;
    const file = this.#file;
    if (file === undefined) return byteSourceOf(Buffer.concat(this.#buffered));
    return { bytes: this.#fileBytes, read: (start, end) => readFrom(file, start, end) };
  }

  /** The same from its beginning, piece by piece. */
  async *pieces(): AsyncIterable<Buffer> {
    const whole = await this.whole();
    for (let at = 0; at < whole.bytes; at += OBJECT_READ_BYTES) {
      yield whole.read(at, Math.min(at + OBJECT_READ_BYTES, whole.bytes));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#buffered = [];
    await this.#file?.close().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const piece = Buffer.concat(this.#buffered);
    this.#buffered = [];
    this.#heldBytes = 0;
    try {
      this.#file ??= await openNameless();
      await writeTo(this.#file, piece, this.#fileBytes);
      this.#fileBytes += piece.length;
    } catch (error) {
      this.#failure = spoolUnavailable(error);
    }
  }
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `tollgate-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function writeTo(file: FileHandle, piece: Buffer, at: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesWritten } = await file.write(piece, done, piece.length - done, at + done);
    done += bytesWritten;
  }
}

async function readFrom(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(end - start);
  try {
    for (let done = 0; done < piece.length; ) {
      const { bytesRead } = await file.read(piece, done, piece.length - done, start + done);
      if (bytesRead === 0) throw new Error('the file is shorter than it was');
      done += bytesRead;
    }
    return piece;
  } catch (error) {
    throw spoolUnavailable(error);
  }
}

function spoolUnavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`temporary file: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

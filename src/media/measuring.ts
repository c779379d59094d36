import { MEDIA_THREAD_BYTES_MIN } from '../limits.ts';
import { Thread } from '../thread.ts';
import { type ByteSource, Implausible, type MeasureOptions, Unreadable } from './buffered-reader.ts';
import { measureHere } from './measure.ts';
import type { Measured } from './measured.ts';
import type { MeasuringMessage, MeasuringReport } from './measuring-thread.ts';
import type { Sniffed } from './sniff.ts';

/**
 * How large or long it is. Images are read at both ends; the rest in pieces of at most MEDIA_READ_BYTES_MAX, each byte
 * about once where there is no index. Throws Unreadable when it is broken, truncated, empty, or beyond a bound, and
 * Implausible, which is one, when what it says of its length cannot be.
 *
 * The head of MP4, WebM and Matroska does not tell whether they hold pictures or sound alone. asMeasured() gives what
 * to call the file once `hasVideo` is known.
 */
export function measure(media: ByteSource, sniffed: Sniffed, options: MeasureOptions = {}): Promise<Measured> {
  const isSmall = media.bytes <= MEDIA_THREAD_BYTES_MIN || sniffed.kind === 'image';
  return isSmall ? measureHere(media, sniffed.mimeType, options) : measuring.take(media, sniffed.mimeType, options);
}

interface Task extends PromiseWithResolvers<Measured> {
  readonly media: ByteSource;
}

/**
 * Counting the frames of a large file takes a tenth of a second and more, in which no other request would be served: a
 * thread does it, which is there only while there are such files. What it reads is read here and handed over.
 */
class Measuring {
  #thread: Thread<MeasuringMessage, MeasuringReport> | undefined;
  readonly #tasks = new Map<number, Task>();
  #last = 0;

  async take(media: ByteSource, mimeType: string, { isCut = false }: MeasureOptions): Promise<Measured> {
    const id = ++this.#last;
    const task = { media, ...Promise.withResolvers<Measured>() };
    this.#tasks.set(id, task);
    this.#thread ??= this.#start();
    this.#thread.give({ kind: 'measure', id, bytes: media.bytes, mimeType, isCut });
    // The thread itself does not keep the program from ending.
    const alive = setInterval(() => undefined, ALIVE_MS);
    try {
      return await task.promise;
    } finally {
      clearInterval(alive);
      this.#tasks.delete(id);
      if (this.#tasks.size === 0) this.#thread?.rest();
    }
  }

  #start(): Thread<MeasuringMessage, MeasuringReport> {
    const script = new URL('./measuring-thread.ts', import.meta.url);
    return new Thread(
      script,
      (report: MeasuringReport) => this.#hear(report),
      (detail) => {
        this.#thread = undefined;
        for (const task of this.#tasks.values()) task.reject(new Error(detail));
      },
    );
  }

  #hear(report: MeasuringReport): void {
    const task = this.#tasks.get(report.id);
    if (task === undefined) return;
    switch (report.kind) {
      case 'read':
        void this.#read(task, report);
        return;
      case 'measured':
        task.resolve(report.measured);
        return;
      case 'unreadable':
        task.reject(report.isImplausible ? new Implausible(report.detail) : new Unreadable(report.detail));
        return;
      case 'failed':
        task.reject(new Error(report.detail));
        return;
    }
  }

  /** What the store throws is the outcome; the thread is told so that it lets go. */
  async #read({ media, reject }: Task, { id, start, end }: { id: number; start: number; end: number }): Promise<void> {
    try {
      // A copy of its own: a view of a larger buffer would be handed over with all of that.
      const piece = new Uint8Array(await media.read(start, end));
      this.#thread?.give({ kind: 'piece', id, piece }, [piece.buffer]);
    } catch (error) {
      reject(error);
      this.#thread?.give({ kind: 'end', id });
    }
  }
}

const ALIVE_MS = 60_000;

const measuring = new Measuring();

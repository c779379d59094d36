import { setImmediate } from 'node:timers/promises';
import { MEDIA_EXTRA_READS_MAX, MEDIA_PARTS_MAX, MEDIA_READ_BYTES_MAX, MEDIA_READ_BYTES_MIN } from '../limits.ts';

/** Random access to something stored. */
export interface Readable {
  readonly bytes: number;
  /** From `start` up to, not including, `end`; never asked for more than `bytes`. What it throws, measure() throws. */
  read(start: number, end: number): Promise<Buffer>;
}

export function readableOf(buffer: Buffer): Readable {
  return { bytes: buffer.length, read: (start, end) => Promise.resolve(buffer.subarray(start, end)) };
}

/** The media is broken, truncated, empty, or beyond a bound. The message is for the log. */
export class Unreadable extends Error {}

const READS_PER_TURN = 16;

/**
 * The view of one measuring. Whoever walks a file forward through it reads each byte about once; reads and looks are
 * counted, so that no file, whatever it states of itself, costs more than its length allows.
 */
export class Window {
  readonly bytes: number;
  readonly #media: Readable;
  #readsLeft: number;
  #looksLeft = MEDIA_PARTS_MAX;
  #from = 0;
  #held: Buffer = Buffer.alloc(0);

  constructor(media: Readable) {
    this.#media = media;
    this.bytes = media.bytes;
    this.#readsLeft = Math.ceil(media.bytes / (MEDIA_READ_BYTES_MIN / 2)) + MEDIA_EXTRA_READS_MAX;
  }

  /** All that is held from `at` on, at least `least` bytes. Unreadable if the file ends before. */
  async from(at: number, least: number): Promise<Buffer> {
    return this.held(at, least) ?? (await this.#load(at, least));
  }

  /** The same without waiting, if it is held already. */
  held(at: number, least: number): Buffer | undefined {
    if (this.#looksLeft-- <= 0) throw new Unreadable('too many parts');
    const start = at - this.#from;
    if (start < 0 || start + least > this.#held.length) return undefined;
    return start === 0 ? this.#held : this.#held.subarray(start);
  }

  async #load(at: number, least: number): Promise<Buffer> {
    if (at < 0 || at + least > this.bytes) throw new Unreadable(`the file ends before byte ${at + least}`);
    if (this.#readsLeft-- <= 0) throw new Unreadable('too many reads');
    // What is in memory already never waits; others get their turn all the same.
    if (this.#readsLeft % READS_PER_TURN === 0) await setImmediate();
    const isNext = at >= this.#from && at <= this.#from + this.#held.length;
    const length = isNext ? Math.min(this.#held.length * 2, MEDIA_READ_BYTES_MAX) : 0;
    const end = Math.min(at + Math.max(length, least, MEDIA_READ_BYTES_MIN), this.bytes);
    const held = await this.#media.read(at, end);
    if (held.length !== end - at) throw new Unreadable('the file is shorter than it was');
    this.#from = at;
    this.#held = held;
    return held;
  }
}

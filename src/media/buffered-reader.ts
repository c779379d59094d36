import { setImmediate } from 'node:timers/promises';
import { MEDIA_EXTRA_READS_MAX, MEDIA_PARTS_MAX, MEDIA_READ_BYTES_MAX, MEDIA_READ_BYTES_MIN } from '../limits.ts';

/** Random access to stored bytes. */
export interface ByteSource {
  readonly bytes: number;
  /** From `start` up to, not including, `end`; never asked for more than `bytes`. What it throws, measure() throws. */
  read(start: number, end: number): Promise<Buffer>;
}

export function byteSourceOf(buffer: Buffer): ByteSource {
  return { bytes: buffer.length, read: (start, end) => Promise.resolve(buffer.subarray(start, end)) };
}

export interface MeasureOptions {
  /** It is known to break off: what is there is measured, where the format lets it be. */
  readonly isCut?: boolean;
}

/** The media is broken, truncated, empty, or beyond a bound. The message is for the log. */
export class Unreadable extends Error {}

/** What it says of its length cannot be, for a file of this size. */
export class Implausible extends Unreadable {}

/** Of one file; more are made only after others had their turn, since what is in memory already is read at once. */
const READS_IN_ONE_TURN = 2;

/** A part that has to be waited for takes as long as some that do not. */
const PARTS_PER_WAIT = 4;

/** What is walked over, and how many bytes of each part are needed to take the next step, or wanted if they are there. */
export interface Range {
  readonly start: number;
  readonly end: number;
  readonly need: number;
  readonly want?: number;
}

/** Looks at the part that begins at `offset` of the view and at `at` of the file. Its length, or 0 to stop. */
export type Step = (view: Buffer, offset: number, at: number) => number | Promise<number>;

/** What one measuring has taken, through however many views. */
interface Spent {
  reads: number;
  parts: number;
}

/**
 * A buffered reader with a budget, for one measuring. Going forward reads each byte about once; reads and parts are
 * counted, so that no file, whatever it states of itself, costs more than its length allows.
 */
export class BufferedReader {
  readonly bytes: number;
  readonly isCut: boolean;
  readonly #media: ByteSource;
  readonly #readsMax: number;
  #from = 0;
  #buffer: Buffer = Buffer.alloc(0);

  readonly #spent: Spent;

  constructor(media: ByteSource, { isCut = false }: MeasureOptions = {}, spent: Spent = { reads: 0, parts: 0 }) {
    this.#media = media;
    this.#spent = spent;
    this.isCut = isCut;
    this.bytes = media.bytes;
    this.#readsMax = Math.ceil(media.bytes / (MEDIA_READ_BYTES_MIN / 2)) + MEDIA_EXTRA_READS_MAX;
  }

  /** Another view of the same file, for going through two places of it in turn. Both draw on one allowance. */
  fork(): BufferedReader {
    return new BufferedReader(this.#media, { isCut: this.isCut }, this.#spent);
  }

  /** What is gone through other than by walk() is counted by this. */
  countPart(parts = 1): void {
    if (this.#spent.parts >= MEDIA_PARTS_MAX) throw new Unreadable('too many parts');
    this.#spent.parts += parts;
  }

  /** All that is in the buffer from `at` on, at least `least` bytes. Unreadable if the file ends before. */
  async from(at: number, least: number): Promise<Buffer> {
    const start = at - this.#from;
    if (start < 0 || start + least > this.#buffer.length) return this.#load(at, least);
    return start === 0 ? this.#buffer : this.#buffer.subarray(start);
  }

  /** From part to part. Returns where it stopped: before the end also where fewer bytes are left than needed. */
  async walk({ start, end, need, want = need }: Range, step: Step): Promise<number> {
    let at = start;
    while (end - at >= need) {
      const view = await this.from(at, Math.min(want, end - at));
      for (let offset = 0; ; ) {
        this.countPart();
        const advance = step(view, offset, at);
        if (typeof advance !== 'number') this.countPart(PARTS_PER_WAIT - 1);
        const bytes = typeof advance === 'number' ? advance : await advance;
        if (bytes === 0) return at;
        at += bytes;
        offset += bytes;
        const isBuffered = end - at >= need && offset + Math.min(want, end - at) <= view.length;
        if (!isBuffered) break;
      }
    }
    return at;
  }

  async #load(at: number, least: number): Promise<Buffer> {
    if (at < 0 || at + least > this.bytes) throw new Unreadable(`the file ends before byte ${at + least}`);
    if (this.#spent.reads >= this.#readsMax) throw new Unreadable('too many reads');
    if (this.#spent.reads++ >= READS_IN_ONE_TURN) await setImmediate();
    const isNext = at >= this.#from && at - this.#from <= this.#buffer.length + MEDIA_READ_BYTES_MIN;
    const length = isNext ? Math.min(this.#buffer.length * 2, MEDIA_READ_BYTES_MAX) : 0;
    const end = Math.min(at + Math.max(length, least, MEDIA_READ_BYTES_MIN), this.bytes);
    const buffer = await this.#media.read(at, end);
    if (buffer.length !== end - at) throw new Unreadable('the file is shorter than it was');
    this.#from = at;
    this.#buffer = buffer;
    return buffer;
  }
}

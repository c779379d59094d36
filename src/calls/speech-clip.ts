import { boundLength, type LengthOrder } from '../billing/index.ts';
import { UpstreamError } from '../errors.ts';
import { MEDIA_SECONDS_MAX, SPEECH_BYTES_MAX } from '../limits.ts';
import { type ByteSource, byteSourceOf, Implausible, measure, Unreadable } from '../media/index.ts';
import type { Units } from '../pricing/index.ts';
import { StorageUnavailable } from '../storage/index.ts';
import type { Speech } from '../vendors/index.ts';
import { type Sound, soundOf } from './speech-sound.ts';
import { Spool } from './spool.ts';

/** How long something plays, and whether that is only reckoned. */
export interface Length {
  readonly milliseconds: number;
  readonly isEstimated: boolean;
}

/** One clip on its way from an upstream: known by its first bytes, written down while it is passed on. */
export class Clip implements AsyncDisposable {
  readonly sound: Sound;
  readonly #head: Buffer;
  readonly #rest: AsyncIterator<Buffer>;
  readonly #spool = new Spool();
  #bytes = 0;
  #isWhole = false;
  #measured: Promise<Length> | undefined;

  private constructor(begun: Begun) {
    this.sound = begun.sound;
    this.#head = begun.head;
    this.#rest = begun.rest;
  }

  /** Resolves when enough has come to tell what it is. Throws UpstreamError. */
  static async begin(speech: Speech): Promise<Clip> {
    return new Clip(await beginningOf(speech));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** As they come; to be taken once. The next is asked of the upstream when the one before is written down. */
  async *pieces(): AsyncGenerator<Buffer, void, void> {
    let written = Promise.resolve();
    try {
      for (let piece: Buffer | undefined = this.#head; piece !== undefined; piece = await this.#next()) {
        this.#bytes += piece.length;
        if (this.#bytes > SPEECH_BYTES_MAX) throw new UpstreamError('server', 'the clip is too large');
        written = this.#spool.write(piece);
        yield piece;
        await written;
      }
      this.#isWhole = true;
    } finally {
      await written;
      await this.#rest.return?.();
    }
  }

  async #next(): Promise<Buffer | undefined> {
    const { value, done } = await this.#rest.next();
    return done === true ? undefined : value;
  }

  /** Of what has come. What cannot be measured is reckoned from its bytes, and never longer than it was ordered. */
  async length(order: LengthOrder): Promise<Length> {
    try {
      this.#measured ??= this.#measure();
      return await this.#measured;
    } catch (error) {
      if (!(error instanceof Unreadable || error instanceof StorageUnavailable)) throw error;
      return this.reckoned(order);
    }
  }

  async #measure(): Promise<Length> {
    return lengthOf(await this.#spool.whole(), this.sound, !this.#isWhole);
  }

  /** For a whole clip that has not been sent yet. Throws UpstreamError for one that cannot play for as long as it says. */
  async refuseImpossible(): Promise<void> {
    this.#measured ??= this.#measure();
    await this.#measured.catch((error: unknown) => {
      if (error instanceof Implausible) throw new UpstreamError('garbled', error.message, { cause: error });
    });
  }

  reckoned(order: LengthOrder): Length {
    return reckonedLength(this.#bytes, this.sound, order);
  }

  /** From its beginning, as often as it is wanted. Throws StorageUnavailable when not all of it could be written. */
  stored(): AsyncIterable<Buffer> {
    return this.#spool.pieces();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#spool[Symbol.asyncDispose]();
  }
}

interface Begun {
  readonly sound: Sound;
  readonly head: Buffer;
  readonly rest: AsyncIterator<Buffer>;
}

async function beginningOf({ pieces, samples }: Speech): Promise<Begun> {
  const rest = pieces[Symbol.asyncIterator]();
  try {
    let head: Buffer = Buffer.alloc(0);
    for (;;) {
      const { value, done } = await rest.next();
      if (done !== true) head = head.length === 0 ? value : Buffer.concat([head, value]);
      const sound = soundOf(head, done === true, samples);
      if (sound === undefined) continue;
      await refuseImplausible(head, sound);
      return { sound, head, rest };
    }
  } catch (error) {
    await rest.return?.();
    throw error;
  }
}

/** A head that says of itself what cannot be is known before anything is sent, so that another upstream may be asked. */
async function refuseImplausible(head: Buffer, sound: Sound): Promise<void> {
  await lengthOf(byteSourceOf(head), sound, true).catch((error: unknown) => {
    if (error instanceof Implausible) throw new UpstreamError('garbled', error.message, { cause: error });
    if (!(error instanceof Unreadable)) throw error;
  });
}

/** Of sound that is here already. */
export async function lengthOfBytes(bytes: Buffer, sound: Sound, order: LengthOrder): Promise<Length> {
  try {
    return await lengthOf(byteSourceOf(bytes), sound, false);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return reckonedLength(bytes.length, sound, order);
  }
}

async function lengthOf(source: ByteSource, { sniffed, samples }: Sound, isCut: boolean): Promise<Length> {
  if (samples !== undefined) {
    const seconds = source.bytes / (samples.rate * samples.channels * SAMPLE_BYTES);
    return { milliseconds: Math.round(seconds * 1000), isEstimated: false };
  }
  if (sniffed === undefined) throw new Unreadable('it is of no kind that is measured');
  const { seconds = 0 } = await measure(source, sniffed, { isCut });
  return { milliseconds: Math.round(seconds * 1000), isEstimated: false };
}

const SAMPLE_BYTES = 2;
/** Of speech as it is usually made. */
const BYTES_PER_SECOND = { uncompressed: 48_000, compressed: 16_000 };

function reckonedLength(bytes: number, { extension, samples }: Sound, { heldMs }: LengthOrder): Length {
  const isCompressed = samples === undefined && extension !== 'wav';
  const perSecond = BYTES_PER_SECOND[isCompressed ? 'compressed' : 'uncompressed'];
  return { milliseconds: Math.min(Math.round((bytes / perSecond) * 1000), Math.ceil(heldMs)), isEstimated: true };
}

/** What so many clips are charged by. Where a length was not measured, the record of the charge says so. */
export function clipUnits(charactersPerClip: number, order: LengthOrder, lengths: readonly Length[]): Units {
  const sum = lengths.reduce((total, { milliseconds }) => total + boundLength(milliseconds, order), 0);
  const units = {
    characters: charactersPerClip * lengths.length,
    milliseconds: Math.min(sum, MEDIA_SECONDS_MAX * 1000),
    requests: lengths.length,
  };
  return lengths.some(({ isEstimated }) => isEstimated) ? { ...units, ...ESTIMATED } : units;
}

const ESTIMATED = { estimated: true };

import { Unreadable } from './buffered-reader.ts';

const CODE_BOOK_SYNC = 0x564342;

/** What the two headers of a Vorbis stream tell of its packets: how many samples each holds is all that is wanted. */
export interface VorbisHeads {
  readonly sampleRate: number;
  /** Of the short blocks and of the long ones. */
  readonly blockSamples: readonly [short: number, long: number];
  /** By mode: whether its blocks are the long ones. A packet names its mode behind its first bit. */
  readonly modes: readonly boolean[];
}

/** Throws Unreadable where a decoder would give up. */
export function readVorbisHeads(identification: Buffer, setup: Buffer): VorbisHeads {
  if (identification.length < 30) throw new Unreadable('the head of Vorbis is cut off');
  const sizes = identification.readUInt8(28);
  const channels = identification.readUInt8(11);
  return {
    sampleRate: identification.readUInt32LE(12),
    blockSamples: [2 ** (sizes & 15), 2 ** (sizes >>> 4)],
    modes: readModes(new Bits(setup.subarray(7)), channels),
  };
}

/** Three headers in one: how many there are but one, the lengths of all but the last, and then they. */
export function readJoinedVorbisHeads(joined: Buffer): VorbisHeads {
  let at = 1;
  const length = () => {
    let bytes = 0;
    while (joined[at] === 255) bytes += joined.readUInt8(at++);
    return bytes + (joined[at++] ?? 0);
  };
  const identificationBytes = length();
  const setupAt = identificationBytes + length() + at;
  if (joined[0] !== 2 || setupAt > joined.length) throw new Unreadable('the heads of Vorbis are broken');
  return readVorbisHeads(joined.subarray(at, at + identificationBytes), joined.subarray(setupAt));
}

/** The modes are the last part of the setup, and nothing before them tells its length: it is read as decoders do. */
function readModes(bits: Bits, channels: number): boolean[] {
  each(bits.read(8) + 1, () => skipCodeBook(bits));
  each(bits.read(6) + 1, () => bits.skip(16));
  each(bits.read(6) + 1, () => skipFloor(bits));
  each(bits.read(6) + 1, () => skipResidue(bits));
  each(bits.read(6) + 1, () => skipMapping(bits, channels));
  const modes: boolean[] = [];
  each(bits.read(6) + 1, () => {
    modes.push(bits.read(1) === 1);
    bits.skip(16 + 16 + 8);
  });
  return modes;
}

function skipCodeBook(bits: Bits): void {
  if (bits.read(24) !== CODE_BOOK_SYNC) throw new Unreadable('a code book of Vorbis is broken');
  const dimensions = bits.read(16);
  const entries = bits.read(24);
  skipCodeLengths(bits, entries);
  const lookup = bits.read(4);
  if (lookup === 0) return;
  bits.skip(32 + 32);
  const valueBits = bits.read(4) + 1;
  bits.skip(1);
  bits.skip(valueBits * (lookup === 1 ? latticeValues(entries, dimensions) : entries * dimensions));
}

function skipCodeLengths(bits: Bits, entries: number): void {
  const isOrdered = bits.read(1) === 1;
  if (isOrdered) {
    bits.skip(5);
    for (let entry = 0; entry < entries; ) entry += bits.read(bitsOf(entries - entry));
    return;
  }
  const isSparse = bits.read(1) === 1;
  if (isSparse) each(entries, () => bits.read(1) === 1 && bits.skip(5));
  else bits.skip(entries * 5);
}

/** The largest number whose power of `dimensions` is at most `entries`. */
function latticeValues(entries: number, dimensions: number): number {
  if (dimensions === 0) return 0;
  let values = Math.floor(entries ** (1 / dimensions));
  while ((values + 1) ** dimensions <= entries) values++;
  while (values ** dimensions > entries) values--;
  return values;
}

function skipFloor(bits: Bits): void {
  if (bits.read(16) === 0) {
    bits.skip(8 + 16 + 16 + 6 + 8);
    bits.skip(8 * (bits.read(4) + 1));
    return;
  }
  const classes: number[] = [];
  each(bits.read(5), () => classes.push(bits.read(4)));
  const dimensions: number[] = [];
  each(Math.max(-1, ...classes) + 1, () => {
    dimensions.push(bits.read(3) + 1);
    const subclasses = bits.read(2);
    if (subclasses > 0) bits.skip(8);
    bits.skip(8 * 2 ** subclasses);
  });
  bits.skip(2);
  const rangeBits = bits.read(4);
  for (const index of classes) bits.skip(rangeBits * (dimensions[index] ?? 0));
}

function skipResidue(bits: Bits): void {
  bits.skip(16 + 24 + 24 + 24);
  const classifications = bits.read(6) + 1;
  bits.skip(8);
  let books = 0;
  each(classifications, () => {
    const low = bits.read(3);
    const high = bits.read(1) === 1 ? bits.read(5) : 0;
    books += onesIn(low) + onesIn(high);
  });
  bits.skip(8 * books);
}

function skipMapping(bits: Bits, channels: number): void {
  bits.skip(16);
  const submaps = bits.read(1) === 1 ? bits.read(4) + 1 : 1;
  if (bits.read(1) === 1) bits.skip((bits.read(8) + 1) * 2 * bitsOf(channels - 1));
  bits.skip(2);
  if (submaps > 1) bits.skip(4 * channels);
  bits.skip(submaps * (8 + 8 + 8));
}

function each(count: number, act: () => unknown): void {
  for (let index = 0; index < count; index++) act();
}

/** How many bits a number takes. */
export function bitsOf(value: number): number {
  return value <= 0 ? 0 : 32 - Math.clz32(value);
}

function onesIn(value: number): number {
  let ones = 0;
  for (let rest = value; rest > 0; rest >>>= 1) ones += rest & 1;
  return ones;
}

/** Bits from the lowest of each byte on. */
class Bits {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  read(count: number): number {
    const start = this.#at;
    this.skip(count);
    let value = 0;
    for (let bit = 0; bit < count; bit++) {
      const at = start + bit;
      value += (((this.#bytes[at >>> 3] ?? 0) >>> (at & 7)) & 1) * 2 ** bit;
    }
    return value;
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#bytes.length * 8) throw new Unreadable('the setup of Vorbis is cut off');
  }
}

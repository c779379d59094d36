import { Unreadable } from './buffered-reader.ts';
import { numberBytes, readNumber } from './ebml.ts';
import type { PacketCounter } from './packets.ts';

const LACING = 0x06;
const XIPH = 0x02;
const FIXED = 0x04;

export function isLaced(flags: number): boolean {
  return (flags & LACING) !== 0;
}

/** Gives the packets of a block to be counted: `block` is what is looked at of its `bytes`, from its flags on. */
export function countBlock(block: Buffer, bytes: number, counter: PacketCounter): void {
  const flags = block[0] ?? 0;
  if (!isLaced(flags)) {
    counter.add(bytes - 1, block.subarray(1));
    return;
  }
  const { sizes, at } = readSizes(block, flags & LACING, (block[1] ?? 0) + 1);
  let start = at;
  for (const bytes of sizes) {
    if (start + bytes > block.length) throw new Unreadable('the packets of a block do not fit');
    counter.add(bytes, block.subarray(start, start + bytes));
    start += bytes;
  }
}

/** The sizes of all packets; the last is what the others leave. */
function readSizes(block: Buffer, lacing: number, count: number): { sizes: number[]; at: number } {
  const sizes: number[] = [];
  let at = 2;
  if (lacing === FIXED) return { sizes: Array<number>(count).fill(Math.floor((block.length - at) / count)), at };
  for (let packet = 0; packet < count - 1; packet++) {
    const { size, next } = lacing === XIPH ? xiphSize(block, at) : codedSize(block, at, sizes.at(-1));
    sizes.push(size);
    at = next;
  }
  const rest = block.length - at - sizes.reduce((sum, size) => sum + size, 0);
  if (rest < 0) throw new Unreadable('the packets of a block do not fit');
  return { sizes: [...sizes, rest], at };
}

function xiphSize(block: Buffer, start: number): { size: number; next: number } {
  let at = start;
  let size = 0;
  while (block[at] === 255) size += block.readUInt8(at++);
  return { size: size + (block[at] ?? 0), next: at + 1 };
}

/** The first is a number, the others are by how much they differ from the one before. */
function codedSize(block: Buffer, at: number, before: number | undefined): { size: number; next: number } {
  const bytes = numberBytes(block, at);
  if (bytes === undefined) throw new Unreadable('a number has no end');
  const value = readNumber(block, at);
  const size = before === undefined ? value : before + value - (2 ** (7 * bytes - 1) - 1);
  if (size < 0) throw new Unreadable('a packet has no size');
  return { size, next: at + bytes };
}

import type { ByteSource } from '../../src/media/index.ts';

// Media built byte by byte, for what no encoder here writes.

export function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

/** Numbers of four bytes, the highest first. */
export function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeUInt32BE(value >>> 0, 4 * index);
  return buffer;
}

export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([words(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

/** An element of Matroska with its length in four bytes. */
export function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([bytes(id), words(body.length + 0x1000_0000), body]);
}

export function riffChunk(name: string, content: Buffer, stated = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(stated, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

/** As lengths are told: to the microsecond. */
export function micro(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

/** Counts what is read of it. */
export interface Watched extends ByteSource {
  readonly reads: { readonly start: number; readonly end: number }[];
}

export function watched(media: ByteSource): Watched {
  const reads: { start: number; end: number }[] = [];
  const read = (start: number, end: number) => {
    reads.push({ start, end });
    return media.read(start, end);
  };
  return { bytes: media.bytes, reads, read };
}

/** One unit over and over, of any length and never in memory. */
export function repeated(unit: Buffer, length: number): ByteSource {
  const read = (start: number, end: number) => {
    const phase = start % unit.length;
    const turned = Buffer.concat([unit.subarray(phase), unit.subarray(0, phase)]);
    return Promise.resolve(Buffer.alloc(end - start, turned));
  };
  return { bytes: length, read };
}

export function joined(first: ByteSource, second: ByteSource): ByteSource {
  const read = async (start: number, end: number) => {
    const border = first.bytes;
    if (end <= border) return first.read(start, end);
    const behind = await second.read(Math.max(0, start - border), end - border);
    return start < border ? Buffer.concat([await first.read(start, border), behind]) : behind;
  };
  return { bytes: first.bytes + second.bytes, read };
}

import { type Measured, soundOf } from './measured.ts';
import { Unreadable, type Window } from './readable.ts';

const EXTENSIBLE = 0xfffe;
/** PCM, floating point, A-law, µ-law: every sample takes the same room. */
const PLAIN_CODES = [1, 3, 6, 7];
/** ADPCM of two kinds, GSM: samples are coded by the block. */
const BLOCK_CODES = [0x02, 0x11, 0x31];
/** Whoever writes to a pipe does not know the length yet: all ones, the largest signed number, or about that. */
const STREAMED_BYTES_MIN = 0x7fff_0000;

interface Chunk {
  readonly name: string;
  /** Of its content. */
  readonly at: number;
  readonly bytes: number;
}

/** The length is what the data chunk really holds. RF64 and BW64 keep it in a chunk of their own. */
export async function measureWav(window: Window): Promise<Measured> {
  const riffBytes = (await window.from(0, 12)).readUInt32LE(4);
  let format: Format | undefined;
  let longData: number | undefined;
  for (let at = 12; at + 8 <= window.bytes; ) {
    const chunk = readChunk(window.held(at, 8) ?? (await window.from(at, 8)), at);
    if (chunk.name === 'ds64') longData = readLong(await window.from(chunk.at + 8, 8));
    else if (chunk.name === 'fmt ') format = readFormat(await window.from(chunk.at, Math.min(chunk.bytes, 40)), chunk);
    else if (chunk.name === 'data') {
      if (format === undefined) break;
      const bytes = dataBytes(chunk, { longData, riffBytes, rest: window.bytes - chunk.at });
      const blocks = Math.floor(bytes / format.blockBytes);
      return soundOf(blocks / format.blocksPerSecond);
    }
    at = chunk.at + chunk.bytes + (chunk.bytes % 2);
  }
  throw new Unreadable('a chunk is missing');
}

function readChunk(view: Buffer, at: number): Chunk {
  return { name: view.toString('latin1', 0, 4), at: at + 8, bytes: view.readUInt32LE(4) };
}

interface Format {
  readonly blockBytes: number;
  readonly blocksPerSecond: number;
}

/** A block is one sample of every channel, or as many as are coded together; of any other coding, one byte. */
function readFormat(view: Buffer, { bytes }: Chunk): Format {
  if (bytes < 16) throw new Unreadable('the format chunk is too short');
  const stated = view.readUInt16LE(0);
  const code = stated === EXTENSIBLE && bytes >= 40 ? view.readUInt16LE(24) : stated;
  const sampleRate = view.readUInt32LE(4);
  const blockBytes = view.readUInt16LE(12);
  let format = { blockBytes: 1, blocksPerSecond: view.readUInt32LE(8) };
  if (PLAIN_CODES.includes(code)) {
    const sampleBytes = Math.ceil(view.readUInt16LE(14) / 8);
    if (blockBytes !== view.readUInt16LE(2) * sampleBytes) throw new Unreadable('the format contradicts itself');
    format = { blockBytes, blocksPerSecond: sampleRate };
  } else if (BLOCK_CODES.includes(code) && bytes >= 20) {
    format = { blockBytes, blocksPerSecond: sampleRate / view.readUInt16LE(18) };
  }
  if (format.blockBytes === 0 || format.blocksPerSecond === 0) throw new Unreadable('the format states no rate');
  return format;
}

interface Surroundings {
  readonly longData: number | undefined;
  readonly riffBytes: number;
  /** From the data to the end of the file. */
  readonly rest: number;
}

function dataBytes({ at, bytes }: Chunk, { longData, riffBytes, rest }: Surroundings): number {
  if (longData !== undefined && bytes === 0xffff_ffff) {
    if (longData <= rest) return longData;
    throw new Unreadable('the data ends early');
  }
  if (bytes >= STREAMED_BYTES_MIN && bytes > rest) return rest;
  if (bytes === 0 && (riffBytes + 8 <= at || riffBytes >= STREAMED_BYTES_MIN)) return rest;
  if (bytes > rest) throw new Unreadable('the data ends early');
  return bytes;
}

function readLong(view: Buffer): number {
  return view.readUInt32LE(0) + view.readUInt32LE(4) * 2 ** 32;
}

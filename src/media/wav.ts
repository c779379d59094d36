import { type Measured, soundOf } from './measured.ts';
import { Unreadable, type Window } from './readable.ts';

const FORMAT = 0x666d7420;
const DATA = 0x64617461;
const LONG_SIZES = 0x64733634;

const EXTENSIBLE = 0xfffe;
/** PCM, floating point, A-law, µ-law: every sample takes the same room. */
const PLAIN_CODES = [1, 3, 6, 7];
/** ADPCM of two kinds, GSM: samples are coded by the block. */
const BLOCK_CODES = [0x02, 0x11, 0x31];
/** Whoever writes to a pipe does not know the length yet: all ones, the largest signed number, or about that. */
const STREAMED_BYTES_MIN = 0x7fff_0000;

/** The head of a chunk, and the longest content that is read. */
const CHUNK_HEAD_BYTES = 8;
const CHUNK_LOOK_BYTES = CHUNK_HEAD_BYTES + 40;

/** The length is what the data chunk really holds. RF64 and BW64 keep its number of bytes in a chunk of their own. */
export async function measureWav(window: Window): Promise<Measured> {
  const riffBytes = (await window.from(0, 12)).readUInt32LE(4);
  let format: Format | undefined;
  let longBytes: number | undefined;
  let data: Data | undefined;
  const range = { start: 12, end: window.bytes, need: CHUNK_HEAD_BYTES, want: CHUNK_LOOK_BYTES };
  await window.walk(range, (view, offset, at) => {
    const name = view.readUInt32BE(offset);
    const bytes = view.readUInt32LE(offset + 4);
    if (name === DATA) {
      data = { at: at + CHUNK_HEAD_BYTES, bytes: bytes === 0xffff_ffff ? (longBytes ?? bytes) : bytes };
      return 0;
    }
    const content = view.subarray(
      offset + CHUNK_HEAD_BYTES,
      offset + Math.min(CHUNK_LOOK_BYTES, CHUNK_HEAD_BYTES + bytes),
    );
    if (name === FORMAT) format = readFormat(content);
    if (name === LONG_SIZES && content.length >= 16)
      longBytes = content.readUInt32LE(8) + content.readUInt32LE(12) * 2 ** 32;
    return CHUNK_HEAD_BYTES + bytes + (bytes % 2);
  });
  if (format === undefined || data === undefined) throw new Unreadable('a chunk is missing');
  const blocks = Math.floor(dataBytes(data, riffBytes, window) / format.blockBytes);
  return soundOf(blocks / format.blocksPerSecond);
}

interface Format {
  readonly blockBytes: number;
  readonly blocksPerSecond: number;
}

/** A block is one sample of every channel, or as many as are coded together; of any other coding, one byte. */
function readFormat(view: Buffer): Format {
  if (view.length < 16) throw new Unreadable('the format chunk is too short');
  const stated = view.readUInt16LE(0);
  const code = stated === EXTENSIBLE && view.length >= 40 ? view.readUInt16LE(24) : stated;
  const sampleRate = view.readUInt32LE(4);
  const blockBytes = view.readUInt16LE(12);
  let format = { blockBytes: 1, blocksPerSecond: view.readUInt32LE(8) };
  if (PLAIN_CODES.includes(code)) {
    const sampleBytes = Math.ceil(view.readUInt16LE(14) / 8);
    if (blockBytes !== view.readUInt16LE(2) * sampleBytes) throw new Unreadable('the format contradicts itself');
    format = { blockBytes, blocksPerSecond: sampleRate };
  } else if (BLOCK_CODES.includes(code) && view.length >= 20) {
    format = { blockBytes, blocksPerSecond: sampleRate / view.readUInt16LE(18) };
  }
  if (format.blockBytes === 0 || format.blocksPerSecond === 0) throw new Unreadable('the format states no rate');
  return format;
}

interface Data {
  readonly at: number;
  readonly bytes: number;
}

function dataBytes({ at, bytes }: Data, riffBytes: number, { bytes: end, isCut }: Window): number {
  const rest = end - at;
  if (isCut && bytes > rest) return rest;
  if (bytes >= STREAMED_BYTES_MIN && bytes <= 0xffff_ffff && bytes > rest) return rest;
  if (bytes === 0 && (riffBytes + 8 <= at || riffBytes >= STREAMED_BYTES_MIN)) return rest;
  if (bytes > rest) throw new Unreadable('the data ends early');
  return bytes;
}

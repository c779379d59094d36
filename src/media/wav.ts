import { MEDIA_DATA_CHUNKS_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { mpegFrame } from './frame-headers.ts';
import { searchFrames } from './frames.ts';
import { checkedRate, type Measured, soundOf } from './measured.ts';

const FORMAT = 0x666d7420;
const DATA = 0x64617461;
const LONG_SIZES = 0x64733634;

const EXTENSIBLE = 0xfffe;
/** PCM, floating point, A-law, µ-law: every sample takes the same room. */
const PLAIN_CODES = [1, 3, 6, 7];
/** ADPCM of two kinds, GSM: samples are coded by the block, and its bytes tell how many there are. */
const BLOCK_SAMPLES: ReadonlyMap<number, (blockBytes: number, channels: number) => number> = new Map([
  [0x02, (bytes, channels) => 2 + ((bytes - 7 * channels) * 2) / channels],
  [0x11, (bytes, channels) => 1 + ((bytes - 4 * channels) * 2) / channels],
  [0x31, (bytes) => Math.floor(bytes / 65) * 320],
]);
/** MPEG of several layers, whose frames tell everything themselves. */
const MPEG_CODES = [0x50, 0x55];
/** An encoder that writes to a pipe does not know the length yet: all ones, the largest signed number, or about that. */
const STREAMED_BYTES_MIN = 0x7fff_0000;

/** The head of a chunk, and the longest content that is read. */
const CHUNK_HEAD_BYTES = 8;
const CHUNK_LOOK_BYTES = CHUNK_HEAD_BYTES + 40;

/**
 * The length is what the data chunk really holds. RF64 and BW64 keep its number of bytes in a chunk of their own. Some
 * decoders go on with every other chunk of data, so that these are counted too.
 */
export async function measureWav(reader: BufferedReader): Promise<Measured> {
  const riffBytes = (await reader.from(0, 12)).readUInt32LE(4);
  let format: Format | undefined;
  let longBytes: number | undefined;
  const data: Data[] = [];
  const range = { start: 12, end: reader.bytes, need: CHUNK_HEAD_BYTES, want: CHUNK_LOOK_BYTES };
  await reader.walk(range, (view, offset, at) => {
    const name = view.readUInt32BE(offset);
    const stated = view.readUInt32LE(offset + 4);
    const bytes = name === DATA && stated === 0xffff_ffff ? (longBytes ?? stated) : stated;
    const next = CHUNK_HEAD_BYTES + bytes + (bytes % 2);
    if (name === DATA) {
      if (data.push({ at: at + CHUNK_HEAD_BYTES, bytes }) > MEDIA_DATA_CHUNKS_MAX)
        throw new Unreadable('too much data');
      return next;
    }
    const content = view.subarray(
      offset + CHUNK_HEAD_BYTES,
      offset + Math.min(CHUNK_LOOK_BYTES, CHUNK_HEAD_BYTES + bytes),
    );
    if (name === FORMAT && data.length === 0) format = readFormat(content);
    if (name === LONG_SIZES && content.length >= 16)
      longBytes = content.readUInt32LE(8) + content.readUInt32LE(12) * 2 ** 32;
    return next;
  });
  const [first, ...others] = data;
  if (format === undefined || first === undefined) throw new Unreadable('a chunk is missing');
  const bytes = dataBytes(first, riffBytes, reader);
  const more = others.reduce((sum, chunk) => sum + Math.min(chunk.bytes, reader.bytes - chunk.at), 0);
  const { stated, counted } = format;
  if (counted === undefined) return { ...soundOf(secondsOf(bytes, stated)), isStated: true };
  const played =
    counted === 'mpeg'
      ? await searchFrames(reader, first.at, reader.bytes, mpegFrame)
      : secondsOf(bytes + more, counted);
  return soundOf(secondsOf(bytes, stated), played);
}

/** What is coded together: a sample of every channel, or many, or of any other coding one byte. */
interface Blocks {
  readonly bytes: number;
  readonly perSecond: number;
}

interface Format {
  /** By what the file says of its coding, and by what the coding is. */
  readonly stated: Blocks;
  readonly counted: Blocks | 'mpeg' | undefined;
}

function secondsOf(bytes: number, blocks: Blocks): number {
  return Math.floor(bytes / blocks.bytes) / blocks.perSecond;
}

function readFormat(view: Buffer): Format {
  if (view.length < 16) throw new Unreadable('the format chunk is too short');
  const stated = view.readUInt16LE(0);
  const code = stated === EXTENSIBLE && view.length >= 40 ? view.readUInt16LE(24) : stated;
  const channels = view.readUInt16LE(2);
  const sampleRate = view.readUInt32LE(4);
  const bytes = view.readUInt16LE(12);
  if (PLAIN_CODES.includes(code)) {
    const sampleBytes = Math.ceil(view.readUInt16LE(14) / 8);
    if (bytes === 0 || bytes !== channels * sampleBytes) throw new Unreadable('the format contradicts itself');
    const blocks = { bytes, perSecond: checkedRate(sampleRate) };
    return { stated: blocks, counted: blocks };
  }
  const perBlock = BLOCK_SAMPLES.get(code)?.(bytes, channels);
  if (perBlock !== undefined && view.length >= 20) {
    const statedPerBlock = view.readUInt16LE(18);
    if (!(perBlock > 0) || statedPerBlock === 0) throw new Unreadable('the format states no rate');
    const rate = checkedRate(sampleRate);
    return { stated: { bytes, perSecond: rate / statedPerBlock }, counted: { bytes, perSecond: rate / perBlock } };
  }
  const perSecond = view.readUInt32LE(8);
  if (perSecond === 0) throw new Unreadable('the format states no rate');
  return { stated: { bytes: 1, perSecond }, counted: MPEG_CODES.includes(code) ? 'mpeg' : undefined };
}

interface Data {
  readonly at: number;
  readonly bytes: number;
}

function dataBytes({ at, bytes }: Data, riffBytes: number, { bytes: end, isCut }: BufferedReader): number {
  const rest = end - at;
  if (isCut && bytes > rest) return rest;
  if (bytes >= STREAMED_BYTES_MIN && bytes <= 0xffff_ffff && bytes > rest) return rest;
  if (bytes === 0 && (riffBytes + 8 <= at || riffBytes >= STREAMED_BYTES_MIN)) return rest;
  if (bytes > rest) throw new Unreadable('the data ends early');
  return bytes;
}

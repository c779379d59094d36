import { MEDIA_CODEC_BYTES_MAX } from '../limits.ts';
import type { BufferedReader } from './buffered-reader.ts';
import type { Box } from './mp4-boxes.ts';
import {
  aacPackets,
  flacPackets,
  framePackets,
  mpegPackets,
  opusPackets,
  type PacketCounter,
  plainPackets,
  vorbisPackets,
} from './packets.ts';
import { readJoinedVorbisHeads } from './vorbis.ts';

/** What the description of a track of sound tells of its packets. */
interface SoundEntry {
  readonly type: string;
  readonly channels: number;
  readonly sampleBits: number;
  readonly sampleRate: number;
  /** The boxes inside it, by type. */
  readonly children: ReadonlyMap<string, Buffer>;
}

/** Counts the packets of the track that this `stsd` describes; undefined if it has several codecs, or another. */
export async function packetsIn(reader: BufferedReader, box: Box): Promise<PacketCounter | undefined> {
  const bytes = Math.min(box.end - box.at, MEDIA_CODEC_BYTES_MAX);
  const view = (await reader.from(box.at, bytes)).subarray(0, bytes);
  const entryBytes = view.length >= ENTRY_BYTES + 8 ? view.readUInt32BE(8) : 0;
  if (entryBytes < ENTRY_BYTES || view.readUInt32BE(4) !== 1) return undefined;
  const entry = readEntry(view.subarray(8, 8 + entryBytes));
  return entry && COUNTERS.get(entry.type)?.(entry);
}

const ENTRY_BYTES = 36;
/** What QuickTime has behind that, by the version of the entry. */
const MORE_BYTES: readonly (number | undefined)[] = [0, 16, 36];

function readEntry(view: Buffer): SoundEntry | undefined {
  const version = view.readUInt16BE(16);
  const more = MORE_BYTES[version];
  if (more === undefined || view.length < ENTRY_BYTES + more) return undefined;
  const isLong = version === 2;
  const children = new Map<string, Buffer>();
  readChildren(view.subarray(ENTRY_BYTES + more), children);
  return {
    type: view.toString('latin1', 4, 8),
    channels: isLong ? view.readUInt32BE(48) : view.readUInt16BE(24),
    sampleBits: isLong ? view.readUInt32BE(56) : view.readUInt16BE(26),
    sampleRate: isLong ? view.readDoubleBE(40) : view.readUInt32BE(32) / 0x10000,
    children,
  };
}

function readChildren(view: Buffer, children: Map<string, Buffer>): void {
  for (let at = 0; at + 8 <= view.length; ) {
    const bytes = view.readUInt32BE(at);
    if (bytes < 8) return;
    const type = view.toString('latin1', at + 4, at + 8);
    const content = view.subarray(at + 8, at + bytes);
    if (type === 'wave') readChildren(content, children);
    else if (!children.has(type)) children.set(type, content);
    at += bytes;
  }
}

type Counter = (entry: SoundEntry) => PacketCounter | undefined;

const plain =
  (bits?: number): Counter =>
  ({ channels, sampleBits, sampleRate }) => {
    const frameBytes = channels * Math.ceil((bits ?? sampleBits) / 8);
    return frameBytes > 0 && sampleRate > 0 ? plainPackets(frameBytes, sampleRate) : undefined;
  };

const COUNTERS: ReadonlyMap<string, Counter> = new Map<string, Counter>([
  ['mp4a', describedPackets],
  ['.mp3', mpegPackets],
  ['mp3 ', mpegPackets],
  ['ms\0\u0055', mpegPackets],
  ['Opus', opusPackets],
  ['fLaC', losslessPackets],
  ['alac', applePackets],
  ...['sowt', 'twos', 'lpcm', 'raw ', 'NONE', 'ipcm', 'fpcm'].map((type) => [type, plain()] as const),
  ['in24', plain(24)],
  ['in32', plain(32)],
  ['fl32', plain(32)],
  ['fl64', plain(64)],
  ['ulaw', plain(8)],
  ['alaw', plain(8)],
]);

const DECODER_DESCRIPTION = 0x04;
const DECODER_CONFIG = 0x05;
const AAC_TYPES = [0x40, 0x66, 0x67, 0x68];
const MPEG_TYPES = [0x69, 0x6b];
const VORBIS_TYPE = 0xdd;

/** The description of a stream is made of records inside records: that of the decoder, and in it the codec's own. */
function describedPackets({ children, channels }: SoundEntry): PacketCounter | undefined {
  const records = readRecords(children.get('esds')?.subarray(4) ?? Buffer.alloc(0));
  const type = records.get(DECODER_DESCRIPTION)?.[0] ?? 0;
  if (MPEG_TYPES.includes(type)) return mpegPackets();
  const config = records.get(DECODER_CONFIG);
  if (config === undefined) return undefined;
  if (type === VORBIS_TYPE) return vorbisPackets(readJoinedVorbisHeads(config));
  return AAC_TYPES.includes(type) ? aacPackets(config, channels) : undefined;
}

/** How many bytes of each kind of record stand before the records inside it. */
const RECORD_HEADS: ReadonlyMap<number, number> = new Map([
  [0x03, 3],
  [DECODER_DESCRIPTION, 13],
]);

function readRecords(view: Buffer): ReadonlyMap<number, Buffer> {
  const records = new Map<number, Buffer>();
  for (let at = 0; at < view.length; ) {
    const tag = view.readUInt8(at++);
    let bytes = 0;
    for (let more = true; more && at < view.length; ) {
      const byte = view.readUInt8(at++);
      bytes = bytes * 128 + (byte & 0x7f);
      more = byte >= 0x80;
    }
    if (!records.has(tag)) records.set(tag, view.subarray(at, at + bytes));
    at += RECORD_HEADS.get(tag) ?? bytes;
  }
  return records;
}

/** The description of the stream is the first of FLAC's blocks. */
function losslessPackets({ children, sampleRate }: SoundEntry): PacketCounter | undefined {
  const stream = children.get('dfLa');
  const rate = stream !== undefined && stream.length >= 22 ? stream.readUInt32BE(18) >>> 12 : sampleRate;
  return rate > 0 ? flacPackets(rate) : undefined;
}

function applePackets({ children }: SoundEntry): PacketCounter | undefined {
  const config = children.get('alac');
  if (config === undefined || config.length < 28) return undefined;
  const samples = config.readUInt32BE(4);
  const sampleRate = config.readUInt32BE(24);
  return samples > 0 && sampleRate > 0 ? framePackets({ samples, sampleRate }) : undefined;
}

import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { checkedRate, type Measured, soundOf } from './measured.ts';
import { OggPackets } from './ogg-packets.ts';
import { opusSamples } from './opus.ts';

const PAGE_SIGNATURE = 0x4f676753;
const PAGE_HEAD_BYTES = 27;
const PAGE_HEAD_BYTES_MAX = 27 + 255;

/**
 * Every page is looked at, since files are chained by writing one behind the other: their lengths add up. A stream that
 * was recorded from a broadcast does not begin at its sample 0, so what its first page cannot hold is taken off. The
 * packets are counted beside the samples that pages number, because a decoder goes by them.
 */
export async function measureOgg(reader: BufferedReader): Promise<Measured> {
  const chain: Chain = { seconds: 0, counted: 0, streams: new Map(), isBeginning: true };
  const range = { start: 0, end: reader.bytes, need: PAGE_HEAD_BYTES, want: PAGE_HEAD_BYTES_MAX };
  const stoppedAt = await reader.walk(range, (view, offset, at) => {
    const page = readPage(view, offset);
    if (at + page.bytes > reader.bytes) {
      if (reader.isCut) return 0;
      throw new Unreadable('the last page is cut off');
    }
    const isHeld = offset + page.bytes <= view.length;
    if (isHeld) return addPage(chain, page, view.subarray(offset, offset + page.bytes));
    return reader.from(at, page.bytes).then((whole) => addPage(chain, page, whole.subarray(0, page.bytes)));
  });
  if (stoppedAt !== reader.bytes && !reader.isCut) throw new Unreadable('the last page is cut off');
  endFile(chain);
  return soundOf(chain.seconds, chain.counted);
}

function addPage(chain: Chain, page: Page, whole: Buffer): number {
  if (page.isFirst) addStream(chain, page, whole.subarray(page.bodyAt));
  chain.isBeginning = page.isFirst;
  const stream = chain.streams.get(page.serial);
  if (stream === undefined) {
    // Not every decoder minds whose page it is.
    if (!chain.streams.has(page.serial)) for (const other of chain.streams.values()) other?.packets.add(page, whole);
    return page.bytes;
  }
  stream.packets.add(page, whole);
  if (page.sample === 0) return page.bytes;
  stream.endSample = Math.max(stream.endSample, page.sample);
  stream.startSample ??= startOf(page, whole, stream);
  return page.bytes;
}

interface Page {
  readonly bytes: number;
  readonly bodyAt: number;
  readonly isFirst: boolean;
  /** It begins with the rest of a packet. */
  readonly isContinued: boolean;
  readonly serial: number;
  /** The number of the last sample that ends on it; 0 if none does. */
  readonly sample: number;
}

function readPage(view: Buffer, offset: number): Page {
  if (view.readUInt32BE(offset) !== PAGE_SIGNATURE) throw new Unreadable('something else is between two pages');
  const bodyAt = PAGE_HEAD_BYTES + view.readUInt8(offset + 26);
  let bytes = bodyAt;
  for (let index = PAGE_HEAD_BYTES; index < bodyAt; index++) bytes += view[offset + index] ?? 0;
  const high = view.readInt32LE(offset + 10);
  return {
    bytes,
    bodyAt,
    isFirst: (view.readUInt8(offset + 5) & 2) !== 0,
    isContinued: (view.readUInt8(offset + 5) & 1) !== 0,
    serial: view.readUInt32LE(offset + 14),
    sample: high < 0 ? 0 : high * 2 ** 32 + view.readUInt32LE(offset + 6),
  };
}

interface Chain {
  /** Of the files before this one: by the samples that pages number, and by what packets hold. */
  seconds: number;
  counted: number;
  /** Those of this file, by serial number; undefined for one of anything but Opus and Vorbis. */
  readonly streams: Map<number, Stream | undefined>;
  /** All streams of a file begin before any goes on. */
  isBeginning: boolean;
}

interface Stream {
  readonly samplesPerSecond: number;
  /** At its beginning, to be decoded and not to be heard. */
  readonly skippedSamples: number;
  /** How many samples the packet that begins here holds, at most. */
  readonly packetSamples: (page: Buffer, at: number) => number;
  readonly packets: OggPackets;
  startSample: number | undefined;
  endSample: number;
}

function addStream(chain: Chain, { serial }: Page, packet: Buffer): void {
  if (!chain.isBeginning) {
    endFile(chain);
    chain.streams.clear();
  }
  chain.streams.set(serial, readHead(packet));
  if (chain.streams.size > MEDIA_TRACKS_MAX) throw new Unreadable('too many streams');
}

function readHead(packet: Buffer): Stream | undefined {
  const begun = { startSample: undefined, endSample: 0 };
  const packets = new OggPackets(packet);
  if (packet.length >= 19 && packet.toString('latin1', 0, 8) === 'OpusHead') {
    const skippedSamples = packet.readUInt16LE(10);
    return { samplesPerSecond: 48_000, skippedSamples, packetSamples: opusSamples, packets, ...begun };
  }
  if (packet.length < 30 || packet.toString('latin1', 0, 7) !== '\u0001vorbis') return undefined;
  const samplesPerSecond = checkedRate(packet.readUInt32LE(12));
  const half = 2 ** (packet.readUInt8(28) >>> 4) / 2;
  return { samplesPerSecond, skippedSamples: 0, packetSamples: () => half, packets, ...begun };
}

/** The first page on which a packet of sound ends tells the sample it ends with. */
function startOf(page: Page, view: Buffer, stream: Stream): number {
  let samples = 0;
  let packetAt = page.bodyAt;
  let segmentAt = page.bodyAt;
  for (let index = PAGE_HEAD_BYTES; index < page.bodyAt; index++) {
    const bytes = view.readUInt8(index);
    segmentAt += bytes;
    if (bytes === 255) continue;
    samples += stream.packetSamples(view, packetAt);
    packetAt = segmentAt;
  }
  return Math.max(0, page.sample - samples);
}

function endFile(chain: Chain): void {
  let seconds = 0;
  let counted = 0;
  for (const stream of chain.streams.values()) {
    if (stream === undefined) continue;
    const heard = stream.endSample - (stream.startSample ?? 0) - stream.skippedSamples;
    seconds = Math.max(seconds, heard / stream.samplesPerSecond);
    counted = Math.max(counted, stream.packets.seconds());
  }
  chain.seconds += seconds;
  chain.counted += counted;
}

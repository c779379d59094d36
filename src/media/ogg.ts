import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { type Measured, soundOf } from './measured.ts';
import { opusSamples } from './opus.ts';
import { Unreadable, type Window } from './readable.ts';

/** One of the streams that are in the file at the same time. */
interface Stream {
  readonly samplesPerSecond: number;
  /** At its beginning, to be decoded and not to be heard. */
  readonly skippedSamples: number;
  /** At most how many samples the packet that begins here holds. */
  readonly packetSamples: (page: Buffer, at: number) => number;
  startSample: number | undefined;
  endSample: number;
}

interface Page {
  readonly bytes: number;
  readonly bodyAt: number;
  readonly isFirst: boolean;
  readonly serial: number;
  /** The number of the last sample that ends on it; undefined if none does. */
  readonly sample: number | undefined;
}

const PAGE_SIGNATURE = 0x4f676753;
const PAGE_HEAD_BYTES = 27;
const PAGE_HEAD_BYTES_MAX = 27 + 255;

/**
 * Every page is looked at, since files are chained by writing one behind the other: their lengths add up. A stream that
 * was recorded from a broadcast does not begin at its sample 0, so what its first page cannot hold is taken off.
 */
export async function measureOgg(window: Window): Promise<Measured> {
  let seconds = 0;
  let streams = new Map<number, Stream | undefined>();
  let isBeginning = true;
  for (let at = 0; at < window.bytes; ) {
    const least = Math.min(PAGE_HEAD_BYTES_MAX, window.bytes - at);
    const page = readPage(window.held(at, least) ?? (await window.from(at, least)), at, window.bytes);
    if (page.isFirst && !isBeginning) {
      seconds += longest(streams);
      streams = new Map();
    }
    isBeginning = page.isFirst;
    if (page.isFirst) streams.set(page.serial, readHead(await window.from(at, page.bytes), page));
    if (streams.size > MEDIA_TRACKS_MAX) throw new Unreadable('too many streams');
    const stream = streams.get(page.serial);
    if (stream !== undefined && page.sample !== undefined && page.sample > 0) {
      stream.startSample ??= page.sample - samplesOn(await window.from(at, page.bytes), page, stream);
      stream.endSample = Math.max(stream.endSample, page.sample);
    }
    at += page.bytes;
  }
  return soundOf(seconds + longest(streams));
}

function longest(streams: ReadonlyMap<number, Stream | undefined>): number {
  const lengths = [...streams.values()].map((stream) => {
    if (stream === undefined) return 0;
    const start = Math.max(stream.startSample ?? 0, 0) + stream.skippedSamples;
    return (stream.endSample - start) / stream.samplesPerSecond;
  });
  return Math.max(0, ...lengths);
}

function readPage(head: Buffer, at: number, end: number): Page {
  if (head.length < PAGE_HEAD_BYTES || head.readUInt32BE(0) !== PAGE_SIGNATURE) {
    throw new Unreadable(`no page at byte ${at}`);
  }
  const bodyAt = PAGE_HEAD_BYTES + head.readUInt8(26);
  if (at + bodyAt > end) throw new Unreadable('the last page is cut off');
  let bytes = bodyAt;
  for (let index = PAGE_HEAD_BYTES; index < bodyAt; index++) bytes += head.readUInt8(index);
  if (at + bytes > end) throw new Unreadable('the last page is cut off');
  const high = head.readInt32LE(10);
  return {
    bytes,
    bodyAt,
    isFirst: (head.readUInt8(5) & 2) !== 0,
    serial: head.readUInt32LE(14),
    sample: high < 0 ? undefined : high * 2 ** 32 + head.readUInt32LE(6),
  };
}

/** Undefined for a stream of anything but Opus and Vorbis. */
function readHead(view: Buffer, { bodyAt, bytes }: Page): Stream | undefined {
  const packet = view.subarray(bodyAt, bytes);
  if (packet.length >= 19 && packet.toString('latin1', 0, 8) === 'OpusHead') {
    const skippedSamples = packet.readUInt16LE(10);
    return {
      samplesPerSecond: 48_000,
      skippedSamples,
      packetSamples: opusSamples,
      startSample: undefined,
      endSample: 0,
    };
  }
  if (packet.length >= 30 && packet.toString('latin1', 0, 7) === '\u0001vorbis') {
    const samplesPerSecond = packet.readUInt32LE(12);
    if (samplesPerSecond === 0) throw new Unreadable('it states no sample rate');
    const half = 2 ** (packet.readUInt8(28) >>> 4) / 2;
    return { samplesPerSecond, skippedSamples: 0, packetSamples: () => half, startSample: undefined, endSample: 0 };
  }
  return undefined;
}

/** At most how many samples the packets that end on this page hold. */
function samplesOn(view: Buffer, { bodyAt }: Page, stream: Stream): number {
  let samples = 0;
  let packetAt = bodyAt;
  let at = bodyAt;
  for (let index = PAGE_HEAD_BYTES; index < bodyAt; index++) {
    const segment = view.readUInt8(index);
    at += segment;
    if (segment === 255) continue;
    samples += stream.packetSamples(view, packetAt);
    packetAt = at;
  }
  return samples;
}

import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { FLAC_HEAD_BYTES_MAX, type FlacFrame, flacFrame } from './flac-frames.ts';
import { withoutTags } from './frames.ts';
import { checkedRate, type Measured, soundOf } from './measured.ts';
import { Tally } from './tally.ts';

/** Its header, those of its channels, its checksum. */
const FRAME_EXTRA_BYTES_MAX = 64;
/** What looks like the last frame, with a right checksum of its header, and is none is rare. */
const LAST_FRAMES_TRIED_MAX = 16;

/** What the first metadata block states. */
interface Stream {
  readonly sampleRate: number;
  /** 0 if the encoder did not know. */
  readonly samples: number;
  /** Of a frame that could not be compressed at all. */
  readonly frameBytesMax: number;
}

/**
 * The last frame tells which samples it holds, and so how many there are; its checksum tells that the file has its end.
 * A stated length that differs is a file cut short or put together wrongly.
 */
export async function measureFlac(reader: BufferedReader): Promise<Measured> {
  const { start, end } = await withoutTags(reader);
  const { stream, audioAt } = await readMetadata(reader, start);
  if (audioAt >= end) throw new Unreadable('it holds no frames');
  const first = flacFrame(await reader.from(audioAt, Math.min(FLAC_HEAD_BYTES_MAX, end - audioAt)), 0);
  const tailAt = Math.max(audioAt, end - stream.frameBytesMax);
  const tail = (await reader.from(tailAt, end - tailAt)).subarray(0, end - tailAt);
  const last = lastFrame(tail);
  if (first === undefined || last === undefined) throw new Unreadable('the first or the last frame is broken');
  // Frames of one size are numbered, and all have the first one's size but the last. The stated sizes are only bounds.
  const samples = (last.number - first.number) * (last.isCounted ? first.samples : 1) + last.samples;
  if (stream.samples !== 0 && stream.samples !== samples) throw new Unreadable('its samples are not all there');
  return soundOf(samples / stream.sampleRate, await countedSeconds(reader, audioAt, stream.sampleRate));
}

/** Every header of a frame up to the end of the file: what a tag hides and what numbers deny is decoded all the same. */
async function countedSeconds(reader: BufferedReader, start: number, streamRate: number): Promise<number> {
  const tally = new Tally();
  const range = { start, end: reader.bytes, need: 1, want: FLAC_HEAD_BYTES_MAX };
  await reader.walk(range, (view, offset, at) => {
    const isEnd = at - offset + view.length >= reader.bytes;
    const end = isEnd ? view.length : view.length - FLAC_HEAD_BYTES_MAX + 1;
    addFlacFrames(view.subarray(offset), end - offset, streamRate, tally);
    return end - offset;
  });
  return tally.seconds();
}

/** Those that begin in the first `end` bytes. What only looks like a header passes for one once in 100 MB. */
export function addFlacFrames(view: Buffer, end: number, streamRate: number, tally: Tally): void {
  for (let at = 0; at < end; at++) {
    const frame = view[at] === 0xff ? flacFrame(view, at) : undefined;
    if (frame !== undefined) tally.add(frame.samples, frame.sampleRate ?? streamRate);
  }
}

async function readMetadata(reader: BufferedReader, start: number): Promise<{ stream: Stream; audioAt: number }> {
  const stream = readStream(await reader.from(start, 4 + 4 + 34));
  let audioAt: number | undefined;
  await reader.walk({ start: start + 4, end: reader.bytes, need: 4 }, (view, offset, at) => {
    const head = view.readUInt32BE(offset);
    const bytes = 4 + (head & 0xff_ffff);
    const isLast = head >>> 31 === 1;
    if (isLast) audioAt = at + bytes;
    return isLast ? 0 : bytes;
  });
  if (audioAt === undefined) throw new Unreadable('it holds no frames');
  return { stream, audioAt };
}

function readStream(view: Buffer): Stream {
  if (view.toString('latin1', 0, 4) !== 'fLaC' || (view.readUInt32BE(4) & 0x7fff_ffff) !== 34) {
    throw new Unreadable('the first block does not describe the stream');
  }
  const packed = view.readUInt32BE(18);
  const sampleRate = checkedRate(packed >>> 12);
  const channels = ((packed >>> 9) & 7) + 1;
  const bits = ((packed >>> 4) & 31) + 1;
  const frameBytesMax = FRAME_EXTRA_BYTES_MAX + Math.ceil((view.readUInt16BE(10) * channels * (bits + 1)) / 8);
  const samples = (packed & 15) * 2 ** 32 + view.readUInt32BE(22);
  return { sampleRate, samples, frameBytesMax };
}

/** The one whose checksum covers all that follows. */
function lastFrame(tail: Buffer): FlacFrame | undefined {
  let tried = 0;
  for (let end = tail.length; end > 0 && tried < LAST_FRAMES_TRIED_MAX; ) {
    const at = tail.lastIndexOf(0xff, end - 1);
    if (at < 0) return undefined;
    end = at;
    const frame = flacFrame(tail, at);
    if (frame === undefined) continue;
    if (crc16(tail.subarray(at)) === 0) return frame;
    tried++;
  }
  return undefined;
}

/** Of polynomial 0x8005. */
function crc16(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) sum = ((sum << 8) & 0xffff) ^ (CRC16_TABLE[(sum >>> 8) ^ byte] ?? 0);
  return sum;
}

const CRC16_TABLE = Uint16Array.from({ length: 256 }, (_, index) => {
  let sum = index << 8;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000 ? (sum << 1) ^ 0x8005 : sum << 1;
  return sum & 0xffff;
});

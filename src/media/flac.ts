import { withoutTags } from './frames.ts';
import { type Measured, soundOf } from './measured.ts';
import { Unreadable, type Window } from './readable.ts';

const FRAME_HEAD_BYTES_MAX = 16;
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
export async function measureFlac(window: Window): Promise<Measured> {
  const { start, end } = await withoutTags(window);
  const { stream, audioAt } = await readMetadata(window, start);
  if (audioAt >= end) throw new Unreadable('it holds no frames');
  const first = readFrame(await window.from(audioAt, Math.min(FRAME_HEAD_BYTES_MAX, end - audioAt)), 0);
  const tailAt = Math.max(audioAt, end - stream.frameBytesMax);
  const tail = (await window.from(tailAt, end - tailAt)).subarray(0, end - tailAt);
  const last = lastFrame(tail);
  if (first === undefined || last === undefined) throw new Unreadable('the first or the last frame is broken');
  // Frames of one size are numbered, and all have the first one's size but the last. The stated sizes are only bounds.
  const samples = (last.number - first.number) * (last.isCounted ? first.samples : 1) + last.samples;
  if (stream.samples !== 0 && stream.samples !== samples) throw new Unreadable('its samples are not all there');
  return soundOf(samples / stream.sampleRate);
}

async function readMetadata(window: Window, start: number): Promise<{ stream: Stream; audioAt: number }> {
  const stream = readStream(await window.from(start, 4 + 4 + 34));
  let audioAt: number | undefined;
  await window.walk({ start: start + 4, end: window.bytes, need: 4 }, (view, offset, at) => {
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
  const sampleRate = packed >>> 12;
  const channels = ((packed >>> 9) & 7) + 1;
  const bits = ((packed >>> 4) & 31) + 1;
  if (sampleRate === 0) throw new Unreadable('it states no sample rate');
  const frameBytesMax = FRAME_EXTRA_BYTES_MAX + Math.ceil((view.readUInt16BE(10) * channels * (bits + 1)) / 8);
  const samples = (packed & 15) * 2 ** 32 + view.readUInt32BE(22);
  return { sampleRate, samples, frameBytesMax };
}

interface Frame {
  /** Its own, or that of its first sample. */
  readonly number: number;
  readonly isCounted: boolean;
  readonly samples: number;
}

/** Undefined unless a whole header with its checksum is here. */
function readFrame(view: Buffer, at: number): Frame | undefined {
  if (at + 6 > view.length || view.readUIntBE(at, 2) >>> 1 !== 0x7ffc) return undefined;
  const isVariable = (view.readUInt8(at + 1) & 1) === 1;
  const codes = view.readUInt8(at + 2);
  const number = readNumber(view, at + 4);
  if (number === undefined) return undefined;
  const sizeCode = codes >>> 4;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateCode = codes & 15;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const sum = number.end + sizeBytes + rateBytes;
  if (sizeCode === 0 || sum >= view.length || crc8(view.subarray(at, sum)) !== view.readUInt8(sum)) return undefined;
  const samples = sizeBytes > 0 ? view.readUIntBE(number.end, sizeBytes) + 1 : namedSamples(sizeCode);
  return { number: number.value, isCounted: !isVariable, samples };
}

function namedSamples(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
}

/** Coded as UTF-8 codes characters, in up to seven bytes. */
function readNumber(view: Buffer, at: number): { value: number; end: number } | undefined {
  const first = view.readUInt8(at);
  const bytes = first < 0x80 ? 1 : Math.clz32(~first << 24);
  if (bytes > 7 || (first >= 0x80 && bytes < 2) || at + bytes > view.length) return undefined;
  let value = bytes === 1 ? first : first & (0x7f >>> bytes);
  for (let offset = 1; offset < bytes; offset++) {
    const more = view.readUInt8(at + offset);
    if (more >>> 6 !== 2) return undefined;
    value = value * 64 + (more & 0x3f);
  }
  return { value, end: at + bytes };
}

/** The one whose checksum covers all that follows. */
function lastFrame(tail: Buffer): Frame | undefined {
  let tried = 0;
  for (let end = tail.length; end > 0 && tried < LAST_FRAMES_TRIED_MAX; ) {
    const at = tail.lastIndexOf(0xff, end - 1);
    if (at < 0) return undefined;
    end = at;
    const frame = readFrame(tail, at);
    if (frame === undefined) continue;
    if (crc16(tail.subarray(at)) === 0) return frame;
    tried++;
  }
  return undefined;
}

/** Of polynomial 0x07; headers are short. */
function crc8(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80 ? ((sum << 1) ^ 0x07) & 0xff : sum << 1;
  }
  return sum;
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

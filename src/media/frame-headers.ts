/** Headers of the frames and tags that sound without a container is made of. */

export interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly sampleRate: number;
}

/** Undefined where no frame begins, also where the buffer is too short to tell. */
export type FrameParser = (buffer: Buffer, at: number) => Frame | undefined;

/** What any frame parser looks at. */
export const FRAME_HEAD_BYTES = 7;

const MPEG_RATES = [44_100, 48_000, 32_000];
const KBPS_LAYER_3 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBPS_LAYER_2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const KBPS_LOW_RATES = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** MPEG-1, 2 and 2.5, layers II and III. Free format, whose frames do not tell their length, is none. */
export function mpegFrame(buffer: Buffer, at: number): Frame | undefined {
  if (at + 4 > buffer.length) return undefined;
  const word = buffer.readUInt32BE(at);
  if (word >>> 21 !== 0x7ff) return undefined;
  return MPEG_FRAMES[(word >>> 9) & 0xfff];
}

/** From the twelve bits behind the mark that every frame begins with. */
function mpegFrameOf(kind: number): Frame | undefined {
  const version = kind >>> 10; // 0: 2.5, 2: 2, 3: 1
  const layer = (kind >>> 8) & 3; // 1: III, 2: II
  const rate = MPEG_RATES[(kind >>> 1) & 3];
  if (version === 1 || (layer !== 1 && layer !== 2) || rate === undefined) return undefined;
  const isFirstVersion = version === 3;
  const table = isFirstVersion ? (layer === 1 ? KBPS_LAYER_3 : KBPS_LAYER_2) : KBPS_LOW_RATES;
  const kbps = table[(kind >>> 3) & 15] ?? 0;
  if (kbps === 0) return undefined;
  const sampleRate = isFirstVersion ? rate : version === 2 ? rate / 2 : rate / 4;
  const samples = layer === 1 && !isFirstVersion ? 576 : 1152;
  const padding = kind & 1;
  return { bytes: Math.floor((samples * kbps * 125) / sampleRate) + padding, samples, sampleRate };
}

/** All there can be: a file has thousands of frames, and they are of a few kinds. */
const MPEG_FRAMES = Array.from({ length: 0x1000 }, (_, kind) => mpegFrameOf(kind));

export function isMono(buffer: Buffer, at: number): boolean {
  return (buffer.readUInt8(at + 3) & 0xc0) === 0xc0;
}

/** Of AAC, by their code. */
export const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

export function adtsFrame(buffer: Buffer, at: number): Frame | undefined {
  if (at + 7 > buffer.length) return undefined;
  const word = buffer.readUInt32BE(at);
  const sampleRate = AAC_RATES[(word >>> 10) & 15];
  if (word >>> 20 !== 0xfff || ((word >>> 17) & 3) !== 0 || sampleRate === undefined) return undefined;
  const bytes = ((word & 3) << 11) | (buffer.readUInt8(at + 4) << 3) | (buffer.readUInt8(at + 5) >>> 5);
  const blocks = (buffer.readUInt8(at + 6) & 3) + 1;
  return bytes > 7 ? { bytes, samples: 1024 * blocks, sampleRate } : undefined;
}

/** The length of the tag of any kind that begins here, 0 if none does. */
export function tagBytes(buffer: Buffer, at: number): number {
  if (buffer[at] === 0x54 && buffer.toString('latin1', at, at + 3) === 'TAG') return 128;
  const isApe = buffer[at] === 0x41 && at + 32 <= buffer.length && buffer.toString('latin1', at, at + 8) === 'APETAGEX';
  return isApe ? 32 + buffer.readUInt32LE(at + 12) : id3Bytes(buffer, at);
}

/** The length of the ID3v2 tag that begins here, 0 if none does. */
export function id3Bytes(buffer: Buffer, at: number): number {
  if (at + 10 > buffer.length || buffer.readUIntBE(at, 3) !== 0x494433) return 0;
  const size = buffer.readUInt32BE(at + 6);
  if (buffer.readUInt8(at + 3) > 4 || (size & 0x80808080) !== 0) return 0;
  const bytes = ((size >>> 24) << 21) | (((size >>> 16) & 0x7f) << 14) | (((size >>> 8) & 0x7f) << 7) | (size & 0x7f);
  const hasFooter = (buffer.readUInt8(at + 5) & 0x10) !== 0;
  return bytes + (hasFooter ? 20 : 10);
}

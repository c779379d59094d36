/** Headers of FLAC's frames, which tell what each holds and nothing of how long they are. */

export interface FlacFrame {
  /** Its own, or that of its first sample. */
  readonly number: number;
  readonly isCounted: boolean;
  readonly samples: number;
  /** Undefined where the description of the stream tells it. */
  readonly sampleRate: number | undefined;
}

export const FLAC_HEAD_BYTES_MAX = 16;

const RATES = [0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const CHANNEL_CODES = 11;

/** Undefined unless a whole header with its checksum is here. */
export function flacFrame(view: Buffer, at: number): FlacFrame | undefined {
  if (at + 6 > view.length || view[at] !== 0xff || (view.readUInt8(at + 1) & 0xfe) !== 0xf8) return undefined;
  const isVariable = (view.readUInt8(at + 1) & 1) === 1;
  const codes = view.readUInt8(at + 2);
  const sizeCode = codes >>> 4;
  const rateCode = codes & 15;
  if (sizeCode === 0 || rateCode === 15 || !isLayout(view.readUInt8(at + 3))) return undefined;
  const number = readNumber(view, at + 4);
  if (number === undefined) return undefined;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode < 12 ? 0 : rateCode === 12 ? 1 : 2;
  const rateAt = number.end + sizeBytes;
  const sum = rateAt + rateBytes;
  if (sum >= view.length || crc8(view, at, sum) !== view[sum]) return undefined;
  const samples = sizeBytes > 0 ? view.readUIntBE(number.end, sizeBytes) + 1 : namedSamples(sizeCode);
  const sampleRate = rateBytes > 0 ? view.readUIntBE(rateAt, rateBytes) * (RATE_UNITS[rateCode] ?? 1) : RATES[rateCode];
  return { number: number.value, isCounted: !isVariable, samples, sampleRate: sampleRate || undefined };
}

const RATE_UNITS: Readonly<Record<number, number>> = { 12: 1000, 13: 1, 14: 10 };

/** How many channels of how many bits: not every code has a meaning. */
function isLayout(byte: number): boolean {
  return byte >>> 4 < CHANNEL_CODES && ((byte >>> 1) & 7) !== 3 && (byte & 1) === 0;
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

/** Of polynomial 0x07. */
function crc8(view: Buffer, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at++) sum = CRC8_TABLE[sum ^ (view[at] ?? 0)] ?? 0;
  return sum;
}

const CRC8_TABLE = Uint8Array.from({ length: 256 }, (_, index) => {
  let sum = index;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x80 ? (sum << 1) ^ 0x07 : sum << 1;
  return sum & 0xff;
});

import type { SoundRequest } from '../../../src/schemas/index.ts';
import type { Encoding, SoundFormat } from './studio/encoder.ts';
import { refuse } from './tasks.ts';

/** How a kind of sound is written where the caller does not say. */
export type Ways = Readonly<Record<SoundFormat, Way>>;

interface Way {
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** Absent where there is nothing to choose. */
  readonly kilobits?: (sampleRate: number) => number;
}

const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const OPUS_RATES = [8_000, 12_000, 16_000, 24_000, 48_000];
const MP3_LOW = [8, 16, 24, 32, 40, 48, 64];
const MP3_MIDDLE = [...MP3_LOW, 80, 96, 112, 128, 160];
const MP3_HIGH = [32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

/** Throws ApiError `unsupported_parameter` for what the format cannot do. */
export function encodingOf(request: SoundRequest<unknown>, ways: Ways): Encoding {
  const format = request.format ?? 'mp3';
  const { channels, kilobits: usual, ...way } = ways[format];
  const sampleRates = format === 'opus' ? OPUS_RATES : RATES;
  const sampleRate = request.sampleRate ?? way.sampleRate;
  if (!sampleRates.includes(sampleRate)) refuse('sample_rate', { oneOf: sampleRates });
  if (usual === undefined) {
    if (request.bitrate !== undefined) refuse('bitrate');
    return { format, sampleRate, channels, bitrate: null };
  }
  // Both ways of writing it are in use: 128 and 128000.
  const { bitrate } = request;
  const kilobits = bitrate === undefined ? usual(sampleRate) : bitrate < 1000 ? bitrate : bitrate / 1000;
  if (!takes(format, kilobits, sampleRate)) refuse('bitrate', 'another value');
  return { format, sampleRate, channels, bitrate: Math.round(kilobits * 1000) };
}

function takes(format: SoundFormat, kilobits: number, sampleRate: number): boolean {
  if (format === 'mp3') {
    const table = sampleRate < 16_000 ? MP3_LOW : sampleRate < 32_000 ? MP3_MIDDLE : MP3_HIGH;
    return table.includes(kilobits);
  }
  return format === 'opus' ? kilobits >= 6 && kilobits <= 510 : kilobits >= 16 && kilobits <= 320;
}

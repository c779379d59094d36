import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';

interface Codec {
  /** The first is asked for where none is named. */
  readonly rates: readonly [number, ...number[]];
  /** The field for it, its unit in bits, and the kilobits that it takes. */
  readonly bitrate?: { readonly field: string; readonly unit: number; readonly kilobits: readonly number[] };
}

const CODECS: Readonly<Record<string, Codec>> = {
  mp3: { rates: [44_100, 32_000], bitrate: { field: 'mp3_bitrate', unit: 1000, kilobits: [64, 128, 192] } },
  wav: { rates: [44_100, 8000, 16_000, 24_000, 32_000] },
  // What callers expect of bare samples comes first.
  pcm: { rates: [24_000, 8000, 16_000, 32_000, 44_100] },
  opus: { rates: [48_000], bitrate: { field: 'opus_bitrate', unit: 1, kilobits: [24, 32, 48, 64] } },
};

/** What is said of a sound. Throws ApiError for a combination that the vendor does not make, with what it does. */
export function formatFor({
  format = 'mp3',
  sampleRate,
  bitrate,
}: SoundRequest<Media>): Readonly<
  Record<string, string | number> & { readonly format: string; readonly sample_rate: number }
> {
  const codec = CODECS[format];
  if (codec === undefined) throw unsupported('response_format', { oneOf: Object.keys(CODECS) });
  const sample_rate = sampleRate ?? codec.rates[0];
  if (!codec.rates.includes(sample_rate))
    throw unsupported('sample_rate', { oneOf: codec.rates.toSorted((one, other) => one - other) });
  if (bitrate === undefined) return { format, sample_rate };
  const bits = kilobits(bitrate);
  if (codec.bitrate?.kilobits.includes(bits) !== true)
    throw unsupported('bitrate', { oneOf: codec.bitrate?.kilobits ?? [] });
  return { format, sample_rate, [codec.bitrate.field]: (bits * 1000) / codec.bitrate.unit };
}

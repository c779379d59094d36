import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';

/** What is said of a sound in the query, and its rate. */
interface SoundFormat {
  readonly options: {
    readonly encoding: string;
    readonly container?: string;
    readonly sample_rate?: number;
    readonly bit_rate?: number;
  };
  readonly rate: number;
}

interface Codec {
  readonly encoding: string;
  readonly container?: string;
  /** The first is the vendor's own, also where it is the only one, and then it is not asked for. */
  readonly rates: readonly [number, ...number[]];
  /** In bits a second: these, or all between two. */
  readonly bitrates?: { readonly oneOf: readonly number[] } | { readonly from: number; readonly to: number };
}

/** What callers expect of bare samples comes first. */
const SAMPLE_RATES = [24_000, 8000, 16_000, 32_000, 48_000] as const;
const OPUS: Codec = {
  encoding: 'opus',
  container: 'ogg',
  rates: [48_000],
  bitrates: { from: 4000, to: 650_000 },
};

const CODECS: Readonly<Record<NonNullable<SoundRequest<Media>['format']>, Codec>> = {
  mp3: { encoding: 'mp3', rates: [22_050], bitrates: { oneOf: [32_000, 48_000] } },
  wav: { encoding: 'linear16', container: 'wav', rates: SAMPLE_RATES },
  pcm: { encoding: 'linear16', container: 'none', rates: SAMPLE_RATES },
  opus: OPUS,
  ogg: OPUS,
  flac: { encoding: 'flac', rates: [48_000, 8000, 16_000, 22_050, 32_000] },
  aac: { encoding: 'aac', rates: [22_050], bitrates: { from: 4000, to: 192_000 } },
};

/** Throws ApiError for a combination that the vendor does not make, with what it does. */
export function formatFor({ format = 'mp3', sampleRate, bitrate }: SoundRequest<Media>): SoundFormat {
  const { encoding, container, rates, bitrates } = CODECS[format];
  const rate = sampleRate ?? rates[0];
  if (!rates.includes(rate)) throw unsupported('sample_rate', { oneOf: rates.toSorted((one, other) => one - other) });
  return {
    options: {
      encoding,
      ...(container !== undefined && { container }),
      // A rate that is fixed is refused when it is named.
      ...(rates.length > 1 && { sample_rate: rate }),
      ...(bitrate !== undefined && { bit_rate: bitsOf(bitrate, bitrates) }),
    },
    rate,
  };
}

function bitsOf(bitrate: number, bitrates: Codec['bitrates']): number {
  const bits = kilobits(bitrate) * 1000;
  if (bitrates === undefined) throw unsupported('bitrate');
  const isTaken = 'oneOf' in bitrates ? bitrates.oneOf.includes(bits) : bits >= bitrates.from && bits <= bitrates.to;
  if (!isTaken) throw unsupported('bitrate', bitrates);
  return bits;
}

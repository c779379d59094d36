import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';

/** One of the vendor's output formats. */
export interface SoundFormat {
  /** `codec_rate` or `codec_rate_kilobits`, as it stands in the query. */
  readonly name: string;
  readonly codec: Codec;
  readonly rate: number;
}

export type Codec = 'mp3' | 'wav' | 'pcm' | 'opus';
type Row = readonly [rate: number, kilobits?: number];

/** What any plan may ask for comes before what needs a higher one. 24 kHz is what callers expect of bare samples. */
const RATES: readonly Row[] = [[24_000], [8_000], [16_000], [22_050], [32_000], [44_100], [48_000]];

/** The first that fits what was asked for is taken. */
const ROWS: Readonly<Record<Codec, readonly Row[]>> = {
  mp3: [
    [44_100, 128],
    [44_100, 32],
    [44_100, 64],
    [44_100, 96],
    [44_100, 192],
    [22_050, 32],
    [24_000, 48],
  ],
  opus: [128, 32, 64, 96, 192].map((kilobits) => [48_000, kilobits] as const),
  pcm: RATES,
  wav: RATES,
};

/** Songs have more of one codec. */
const MUSIC_ROWS: typeof ROWS = {
  ...ROWS,
  mp3: [...ROWS.mp3, ...[192, 128, 240, 320].map((kilobits) => [48_000, kilobits] as const)],
};

/** Bare samples are not asked for: a stored file must say what it is. */
export function musicFormat(request: SoundRequest<Media>): SoundFormat {
  return formatFor(request, ['mp3', 'opus'], MUSIC_ROWS);
}

/** Throws ApiError for a combination that the vendor does not make, with what it does. */
export function formatFor(request: SoundRequest<Media>, codecs: readonly Codec[], rows = ROWS): SoundFormat {
  const { format = 'mp3', sampleRate, bitrate } = request;
  const codec = codecs.find((known) => known === format);
  if (codec === undefined) throw unsupported('response_format', { oneOf: codecs });
  const ofRate = rows[codec].filter(([rate]) => rate === (sampleRate ?? rate));
  if (ofRate.length === 0) {
    throw unsupported('sample_rate', { oneOf: listed(rows[codec].map(([rate]) => rate)) });
  }
  const found = ofRate.find(([, each]) => bitrate === undefined || each === kilobits(bitrate));
  if (found === undefined) throw unsupported('bitrate', { oneOf: listed(ofRate.flatMap(([, each]) => each ?? [])) });
  return { name: [codec, ...found].join('_'), codec, rate: found[0] };
}

function listed(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((one, other) => one - other);
}

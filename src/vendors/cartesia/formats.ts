import type { JsonObject } from '../../json.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';

const FORMATS = ['mp3', 'wav', 'pcm'] as const;
const RATES = [8000, 16_000, 22_050, 24_000, 44_100, 48_000];
const KILOBITS = [32, 64, 96, 128, 192];
/** 24 kHz is what callers expect of bare samples. */
const DEFAULTS = { mp3: 44_100, wav: 44_100, pcm: 24_000 };
const DEFAULT_KILOBITS = 128;

/** What is said of a sound, every part of which the vendor requires. Throws ApiError for what it does not make. */
export function formatFor({ format = 'mp3', sampleRate, bitrate }: SoundRequest<Media>): {
  fields: JsonObject;
  rate: number;
} {
  const known = FORMATS.find((each) => each === format);
  if (known === undefined) throw unsupported('response_format', { oneOf: FORMATS });
  const rate = sampleRate ?? DEFAULTS[known];
  if (!RATES.includes(rate)) throw unsupported('sample_rate', { oneOf: RATES });
  if (known === 'mp3') return { fields: { container: 'mp3', sample_rate: rate, bit_rate: bitsOf(bitrate) }, rate };
  if (bitrate !== undefined) throw unsupported('bitrate');
  const container = known === 'wav' ? 'wav' : 'raw';
  return { fields: { container, encoding: 'pcm_s16le', sample_rate: rate }, rate };
}

function bitsOf(bitrate: number = DEFAULT_KILOBITS): number {
  const bits = kilobits(bitrate);
  if (!KILOBITS.includes(bits)) throw unsupported('bitrate', { oneOf: KILOBITS });
  return bits * 1000;
}

import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { kilobits } from '../kit/sound.ts';

type Format = 'mp3' | 'wav' | 'pcm' | 'flac';

export interface SoundFormats {
  readonly codecs: readonly Format[];
  readonly rates: readonly number[];
}

const BITRATES = [32_000, 64_000, 128_000, 256_000];
/** What callers expect of samples that cannot say it themselves. */
const SAMPLES_RATE = 24_000;

export const SPEECH_FORMATS: SoundFormats = {
  codecs: ['mp3', 'wav', 'pcm', 'flac'],
  rates: [8_000, 16_000, 22_050, 24_000, 32_000, 44_100],
};
/** Bare samples are not asked for: a stored file must say what it is. */
export const SONG_FORMATS: SoundFormats = { codecs: ['mp3', 'wav'], rates: [16_000, 24_000, 32_000, 44_100] };

/** Format, rate and bitrate are one field. Throws ApiError for what is not made. */
export function soundSetting(
  { format = 'mp3', sampleRate, bitrate }: SoundRequest<unknown>,
  { codecs, rates }: SoundFormats,
) {
  const codec = codecs.find((known) => known === format);
  if (codec === undefined) throw unsupported('response_format', { oneOf: codecs });
  if (sampleRate !== undefined && !rates.includes(sampleRate)) throw unsupported('sample_rate', { oneOf: rates });
  const bits = bitrate === undefined ? undefined : kilobits(bitrate) * 1000;
  if (bits !== undefined && codec !== 'mp3') throw unsupported('bitrate');
  if (bits !== undefined && !BITRATES.includes(bits)) throw unsupported('bitrate', { oneOf: BITRATES });
  const rate = sampleRate ?? (codec === 'pcm' ? SAMPLES_RATE : undefined);
  const audio_setting = {
    format: codec,
    ...(rate !== undefined && { sample_rate: rate }),
    ...(bits !== undefined && { bitrate: bits }),
  };
  return { audio_setting, samplesRate: codec === 'pcm' ? rate : undefined };
}

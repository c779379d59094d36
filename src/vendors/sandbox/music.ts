import type { SoundRequest } from '../../requests/index.ts';
import type { Media } from '../vendor.ts';
import type { MusicPiece } from './studio/piece.ts';
import { checkSeed, type Kind, refuse, seedOf } from './tasks.ts';

const PER_CALL = 8;
const SECONDS_USUAL = 10;
const SECONDS_MIN = 0.5;
const SECONDS_MAX = 60;
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;
const VOLUME_MAX = 2;

interface FormatRules {
  readonly sampleRates: readonly number[];
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** Kilobits per second, by sample rate; absent where there is nothing to choose. */
  readonly bitrates?: (sampleRate: number) => { readonly usual: number; readonly takes: (bitrate: number) => boolean };
}

const RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const MP3_LOW = [8, 16, 24, 32, 40, 48, 64];
const MP3_MIDDLE = [...MP3_LOW, 80, 96, 112, 128, 160];
const MP3_HIGH = [32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const between = (min: number, max: number) => (bitrate: number) => bitrate >= min && bitrate <= max;

const STEREO = { sampleRates: RATES, sampleRate: 44_100, channels: 2 } as const;
const FORMATS: Readonly<Record<MusicPiece['format'], FormatRules>> = {
  mp3: {
    ...STEREO,
    bitrates: (rate) => {
      const table = rate < 16_000 ? MP3_LOW : rate < 32_000 ? MP3_MIDDLE : MP3_HIGH;
      return { usual: rate < 16_000 ? 64 : 128, takes: (bitrate) => table.includes(bitrate) };
    },
  },
  aac: { ...STEREO, bitrates: () => ({ usual: 128, takes: between(16, 320) }) },
  opus: {
    sampleRates: [8_000, 12_000, 16_000, 24_000, 48_000],
    sampleRate: 48_000,
    channels: 2,
    bitrates: () => ({ usual: 96, takes: between(6, 510) }),
  },
  ogg: STEREO,
  flac: STEREO,
  wav: STEREO,
  // Nothing in the bytes says what they are, so they are what players of `pcm` take them for: 16 bits, one channel.
  pcm: { sampleRates: RATES, sampleRate: 24_000, channels: 1 },
};

export const musicKind: Kind<SoundRequest<Media>> = {
  check(request) {
    encodingOf(request);
    within('duration_seconds', request.durationSeconds || undefined, SECONDS_MIN, SECONDS_MAX);
    within('speed', request.speed, SPEED_MIN, SPEED_MAX);
    within('volume', request.volume, 0, VOLUME_MAX);
    const unknown = {
      loudness: request.loudness,
      guidance_scale: request.guidanceScale,
      prompt_influence: request.promptInfluence,
      reference_audio: request.referenceAudio[0],
    };
    for (const [field, value] of Object.entries(unknown)) {
      if (value !== undefined) refuse(field, 'its composer has no use for one');
    }
    checkSeed(request);
  },
  perCall: () => PER_CALL,
  plan(request, order) {
    const { prompt = '', input = '', voiceDescription = '', voice = '', referenceId = '', language = '' } = request;
    const written = request.lyrics ?? (request.autoGenerateText === true ? prompt : '');
    return Promise.resolve({
      kind: 'music',
      words: [prompt, input, voiceDescription].join(' '),
      lyrics: request.instrumental === true ? '' : written,
      singer: [voice, referenceId, voiceDescription, language].join(' '),
      seconds: request.durationSeconds || SECONDS_USUAL,
      seed: seedOf(request, order, PER_CALL),
      count: order.count,
      isLoop: request.loop === true,
      speed: request.speed ?? 1,
      volume: request.volume ?? 1,
      ...encodingOf(request),
    });
  },
};

function within(field: string, value: number | undefined, min: number, max: number): void {
  if (value !== undefined && (value < min || value > max)) refuse(field, `it takes ${min} to ${max}`);
}

function encodingOf(request: SoundRequest<Media>) {
  const format = request.format ?? 'mp3';
  const rules = FORMATS[format];
  const sampleRate = request.sampleRate ?? rules.sampleRate;
  if (!rules.sampleRates.includes(sampleRate)) refuse('sample_rate', `${format} takes ${rules.sampleRates.join(', ')}`);
  const { channels } = rules;
  const choice = rules.bitrates?.(sampleRate);
  if (choice === undefined) {
    if (request.bitrate !== undefined) refuse('bitrate', `${format} has none to choose`);
    return { format, sampleRate, channels, bitrate: null };
  }
  // Both ways of writing it are in use: 128 and 128000.
  const kilobits =
    request.bitrate === undefined ? choice.usual : request.bitrate < 1000 ? request.bitrate : request.bitrate / 1000;
  if (!choice.takes(kilobits)) refuse('bitrate', `it is none that ${format} has at ${sampleRate} Hz`);
  return { format, sampleRate, channels, bitrate: Math.round(kilobits * 1000) };
}

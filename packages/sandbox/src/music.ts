import type { SoundRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import { encodingOf, type Ways } from './encoding.ts';
import { checkSeed, type Kind, refuse, refuseOutside, seedOf } from './tasks.ts';

const PER_CALL = 8;
const SECONDS_USUAL = 10;
const SECONDS_MIN = 0.5;
const SECONDS_MAX = 60;
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;
const VOLUME_MAX = 2;

/** Nothing in bare samples says what they are, so they are what players take them for: one channel. */
const HI_FI: Ways = {
  mp3: { sampleRate: 44_100, channels: 2, kilobits: (rate) => (rate < 16_000 ? 64 : 128) },
  aac: { sampleRate: 44_100, channels: 2, kilobits: () => 128 },
  opus: { sampleRate: 48_000, channels: 2, kilobits: () => 96 },
  ogg: { sampleRate: 44_100, channels: 2 },
  flac: { sampleRate: 44_100, channels: 2 },
  wav: { sampleRate: 44_100, channels: 2 },
  pcm: { sampleRate: 24_000, channels: 1 },
};

export const musicKind: Kind<SoundRequest<Media>> = {
  check(request) {
    encodingOf(request, HI_FI);
    refuseOutside('duration_seconds', request.durationSeconds || undefined, SECONDS_MIN, SECONDS_MAX);
    refuseOutside('speed', request.speed, SPEED_MIN, SPEED_MAX);
    refuseOutside('volume', request.volume, 0, VOLUME_MAX);
    const unknown = {
      loudness: request.loudness,
      guidance_scale: request.guidanceScale,
      prompt_influence: request.promptInfluence,
      reference_audio: request.referenceAudio[0],
    };
    for (const [field, value] of Object.entries(unknown)) {
      if (value !== undefined) refuse(field);
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
      ...encodingOf(request, HI_FI),
    });
  },
};

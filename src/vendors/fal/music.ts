import type { SoundRequest } from '../../requests/index.ts';
import { unsupported } from '../../unsupported.ts';
import { as, type Family, type Fields, inputOf, single, type Takes } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { queued } from './queue.ts';

type Request = SoundRequest<Media>;

const codec: Takes<Request> = everyOf(codecOf, 'output_format');
const setting: Takes<Request> = everyOf(settingOf, 'audio_setting');
const guided: Takes<Request> = { seed: as('seed'), guidanceScale: as('guidance_scale') };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family<Request>])[] = [
  [
    /\/elevenlabs\/music/,
    {
      takes: {
        ...described('prompt'),
        ...codec,
        durationSeconds: (seconds) => ({ music_length_ms: Math.round(seconds * 1000) }),
        instrumental: as('force_instrumental'),
      },
    },
  ],
  [
    /\/elevenlabs\/sound-effects/,
    {
      takes: {
        ...described('text'),
        ...codec,
        durationSeconds: as('duration_seconds'),
        promptInfluence: as('prompt_influence'),
        loop: as('loop'),
      },
    },
  ],
  [/\/minimax-music\/v(1|2$)/, { takes: { ...described('prompt'), ...setting, lyrics: as('lyrics_prompt') } }],
  [
    /\/minimax-music\/v/,
    {
      takes: {
        ...described('prompt'),
        ...setting,
        lyrics: as('lyrics'),
        instrumental: as('is_instrumental'),
        autoGenerateText: as('lyrics_optimizer'),
      },
    },
  ],
  [/\/minimax-music/, { takes: { ...described('prompt'), referenceAudio: single('reference_audio_url') } }],
  [
    /\/stable-audio-25\/audio-to-audio/,
    {
      takes: {
        ...described('prompt'),
        ...guided,
        durationSeconds: as('total_seconds'),
        referenceAudio: single('audio_url'),
      },
    },
  ],
  [/\/stable-audio-25/, { takes: { ...described('prompt'), ...guided, durationSeconds: as('seconds_total') } }],
  [/\/stable-audio/, { takes: { ...described('prompt'), durationSeconds: as('seconds_total') } }],
];

/** Of a model that is not known, all is asked for under the usual names. */
const USUAL: Family<Request> = {
  takes: {
    ...described('prompt'),
    ...guided,
    lyrics: as('lyrics'),
    voice: as('voice'),
    referenceId: as('reference_id'),
    language: as('language'),
    format: as('output_format'),
    durationSeconds: as('duration'),
    instrumental: as('instrumental'),
    loop: as('loop'),
    referenceAudio: single('audio_url'),
  },
};

export const music = queued<Request>({
  kind: 'audio',
  priced: ['music_length_ms', 'seconds_total', 'total_seconds'],
  inputOf: (request, model) => inputOf(request, FAMILIES.find(([name]) => name.test(model))?.[1] ?? USUAL, SOUND_NAMES),
  countOf: () => undefined,
});

/** A text without a prompt is the prompt. */
function described(name: string): Takes<Request> {
  return {
    prompt: as(name),
    input: (text, field, { prompt }) => {
      if (prompt !== undefined) throw unsupported(field, { notWith: 'prompt' });
      return { [name]: text };
    },
  };
}

/** Format, sample rate and bitrate are one field. */
function everyOf(write: (request: Request, field: string) => Fields[string], name: string): Takes<Request> {
  const take = (_value: string | number, field: string, request: Request): Fields => ({
    [name]: write(request, field),
  });
  return { format: take, sampleRate: take, bitrate: take };
}

/** `codec_rate_kilobits`. */
function codecOf({ format = 'mp3', sampleRate, bitrate }: Request, field: string): string {
  const kilobits = bitrate === undefined ? 128 : bitsOf(bitrate) / 1000;
  if (format === 'mp3') return `mp3_${sampleRate ?? 44_100}_${kilobits}`;
  if (format === 'opus') return `opus_${sampleRate ?? 48_000}_${kilobits}`;
  if (format !== 'pcm' || bitrate !== undefined) throw unsupported(field, 'another value');
  return `pcm_${sampleRate ?? 44_100}`;
}

function settingOf({ format, sampleRate, bitrate }: Request): Fields[string] {
  return {
    ...(format === undefined ? {} : { format }),
    ...(sampleRate === undefined ? {} : { sample_rate: String(sampleRate) }),
    ...(bitrate === undefined ? {} : { bitrate: String(bitsOf(bitrate)) }),
  };
}

/** Callers write 128 as well as 128000. */
function bitsOf(bitrate: number): number {
  return bitrate < 1000 ? bitrate * 1000 : bitrate;
}

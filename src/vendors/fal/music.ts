import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { described } from '../kit/field-maps.ts';
import { as, type FieldMap, firstMatch, type ModelFamily, mapFields, single, type WireFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';
import { queued } from './queue.ts';

type Request = SoundRequest<Media>;

const codec: FieldMap<Request> = everyOf(codecOf, 'output_format');
const setting: FieldMap<Request> = everyOf(settingOf, 'audio_setting');
const guided: FieldMap<Request> = { seed: as('seed'), guidanceScale: as('guidance_scale') };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ModelFamily<Request>])[] = [
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
const USUAL: ModelFamily<Request> = {
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
  inputOf: (request, model) => mapFields(request, firstMatch(FAMILIES, model) ?? USUAL, SOUND_NAMES),
});

/** Format, sample rate and bitrate are one field. */
function everyOf(write: (request: Request, field: string) => WireFields[string], name: string): FieldMap<Request> {
  const take = (_value: string | number, field: string, request: Request): WireFields => ({
    [name]: write(request, field),
  });
  return { format: take, sampleRate: take, bitrate: take };
}

/** `codec_rate_kilobits`. */
function codecOf({ format = 'mp3', sampleRate, bitrate }: Request, field: string): string {
  const rate = bitrate === undefined ? 128 : kilobits(bitrate);
  if (format === 'mp3') return `mp3_${sampleRate ?? 44_100}_${rate}`;
  if (format === 'opus') return `opus_${sampleRate ?? 48_000}_${rate}`;
  if (format !== 'pcm' || bitrate !== undefined) throw unsupported(field, 'another value');
  return `pcm_${sampleRate ?? 44_100}`;
}

function settingOf({ format, sampleRate, bitrate }: Request): WireFields[string] {
  return {
    ...(format === undefined ? {} : { format }),
    ...(sampleRate === undefined ? {} : { sample_rate: String(sampleRate) }),
    ...(bitrate === undefined ? {} : { bitrate: String(kilobits(bitrate) * 1000) }),
  };
}

import type { SoundRequest } from '../../schemas/index.ts';
import { described, onlyFormat } from '../kit/field-maps.ts';
import {
  as,
  between,
  type FieldMap,
  firstMatch,
  oneOf,
  oneOfNumbers,
  single,
  type WireFields,
  wholeSeconds,
} from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuse, refuseLength, refuseOutside } from '../kit/refusals.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';
import { type Family, predictions } from './predictions.ts';

type Request = SoundRequest<Media>;
type Fields = FieldMap<Request>;

const seeded: Fields = { ...described('prompt'), seed: as('seed') };
/** Songs, which are never without words. */
const SUNG = /\/music-(01|1\.5|2)/;
const SONG: Fields = {
  lyrics: as('lyrics'),
  sampleRate: oneOfNumbers('sample_rate', [16_000, 24_000, 32_000, 44_100]),
  bitrate: (bitrate, field) =>
    oneOfNumbers('bitrate', [32_000, 64_000, 128_000, 256_000])(kilobits(bitrate) * 1000, field),
};
const SONG_IN_STYLE: Fields = {
  ...SONG,
  ...described('prompt'),
  format: oneOf('audio_format', ['mp3', 'wav', 'pcm']),
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family<Request>])[] = [
  [/\/music-01/, { takes: { ...SONG, referenceAudio: single('song_file') } }],
  [
    /\/music-1\.5/,
    {
      takes: {
        ...SONG_IN_STYLE,
        ...described('prompt', ofLength('prompt', 10, 300)),
        lyrics: ofLength('lyrics', 10, 600),
      },
    },
  ],
  [SUNG, { takes: { ...SONG_IN_STYLE, lyrics: ofLength('lyrics', 1, 3500) } }],
  [
    /^elevenlabs\/music/,
    {
      takes: {
        ...described('prompt'),
        ...onlyFormat('mp3'),
        durationSeconds: milliseconds,
        instrumental: as('force_instrumental'),
      },
      // It leaves voices out unless told not to.
      always: { force_instrumental: false },
    },
  ],
  [/\/lyria-2/, { takes: seeded }],
  [
    /\/stable-audio-2\.5/,
    {
      takes: {
        ...seeded,
        durationSeconds: wholeSeconds('duration', 1, 190),
        guidanceScale: between('cfg_scale', 1, 25),
      },
    },
  ],
];

/** Of a model that is not known, all is asked for under the names that the vendor's models mostly have. */
const USUAL: Family<Request> = {
  isGuess: true,
  takes: {
    ...seeded,
    lyrics: as('lyrics'),
    format: as('output_format'),
    durationSeconds: as('duration'),
    referenceAudio: single('input_audio'),
  },
};

export const music = predictions<Request>({
  kind: 'audio',
  names: SOUND_NAMES,
  familyOf: (model) => firstMatch(FAMILIES, model) ?? USUAL,
  reserved: [
    ...['duration', 'music_length_ms', 'seconds_total', 'total_seconds', 'force_instrumental'],
    ...['input_audio', 'song_file', 'voice_file', 'instrumental_file', 'audio_format'],
  ],
  require: ({ prompt, input, lyrics }, model) => {
    const oneCharacter = { atLeast: 1, unit: 'character' };
    if (SUNG.test(model)) refuse('lyrics', lyrics === undefined, oneCharacter);
    const isWordless = (prompt ?? input) === undefined;
    refuse('prompt', isWordless && (!SUNG.test(model) || model.includes('/music-1.5')), oneCharacter);
  },
});

function ofLength(name: string, min: number, max: number): (text: string, field: string) => WireFields {
  return (text, field) => {
    refuseLength(field, text, min, max);
    return { [name]: text };
  };
}

function milliseconds(seconds: number, field: string): WireFields {
  refuseOutside(field, seconds, 5, 300);
  return { music_length_ms: Math.round(seconds * 1000) };
}

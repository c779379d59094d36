import type { SoundRequest } from '../../schemas/index.ts';
import { described } from '../kit/field-maps.ts';
import { as, type FieldMap, firstMatch, oneOf, single, type WireFields, wholeSeconds } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuse, refuseOutside } from '../kit/refusals.ts';
import { kilobits } from '../kit/sound.ts';
import type { Media } from '../vendor.ts';
import { type Family, predictions } from './predictions.ts';

type Request = SoundRequest<Media>;
type Fields = FieldMap<Request>;

const seeded: Fields = { ...described('prompt'), seed: as('seed') };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, Family<Request>])[] = [
  [
    /\/music-(01|1\.5|2)/,
    {
      takes: {
        ...described('prompt'),
        lyrics: as('lyrics'),
        format: oneOf('audio_format', ['mp3', 'wav', 'pcm']),
        sampleRate: as('sample_rate'),
        bitrate: (bitrate) => ({ bitrate: kilobits(bitrate) * 1000 }),
      },
    },
  ],
  [
    /^elevenlabs\/music/,
    { takes: { ...described('prompt'), durationSeconds: milliseconds, instrumental: as('force_instrumental') } },
  ],
  [/\/lyria-2/, { takes: seeded }],
  [/\/stable-audio-2\.5/, { takes: { ...seeded, durationSeconds: wholeSeconds('duration', 1, 190) } }],
];

/** Of a model that is not known, all is asked for under the names that the vendor's models mostly have. */
const USUAL: Family<Request> = {
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
  reserved: ['duration', 'music_length_ms', 'seconds_total', 'total_seconds', 'input_audio', 'force_instrumental'],
  require: ({ prompt, input }) => refuse('prompt', (prompt ?? input) === undefined, { atLeast: 1, unit: 'character' }),
});

function milliseconds(seconds: number, field: string): WireFields {
  refuseOutside(field, seconds, 5, 300);
  return { music_length_ms: Math.round(seconds * 1000) };
}

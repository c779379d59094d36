import type { SoundRequest } from '../../schemas/index.ts';
import { bitrates, described, sampleRates } from '../kit/field-maps.ts';
import {
  as,
  between,
  type FieldMap,
  implied,
  oneOf,
  single,
  textWithin,
  type WireFields,
  wholeSeconds,
} from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseOutside } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { type Families, predictions } from './predictions.ts';

type Request = SoundRequest<Media>;
type Fields = FieldMap<Request>;

const prompted = { prompt: 'prompt' };
const seeded: Fields = { ...described('prompt'), seed: as('seed') };
const GUIDED: Fields = { ...seeded, guidanceScale: between('cfg_scale', 1, 25) };
const RATES: Fields = { ...sampleRates(16_000, 24_000, 32_000, 44_100), ...bitrates(32_000, 64_000, 128_000, 256_000) };
const MINIMAX: Fields = { ...RATES, ...described('prompt'), format: oneOf('audio_format', ['mp3', 'wav', 'pcm']) };
const SHORT_SONGS: Fields = {
  ...MINIMAX,
  ...described('prompt', textWithin('prompt', 10, 300)),
  lyrics: textWithin('lyrics', 10, 600),
};
const COMPOSED: Fields = {
  ...described('prompt'),
  instrumental: as('force_instrumental'),
  format: implied('mp3'),
  durationSeconds: milliseconds,
};
/** Songs are never without words. */
const sung = { lyrics: 'lyrics' };

const FAMILIES: Families<Request> = [
  [/\/music-01/, { takes: { ...RATES, lyrics: as('lyrics'), referenceAudio: single('song_file') }, needs: sung }],
  [/\/music-1\.5/, { takes: SHORT_SONGS, needs: { ...prompted, ...sung } }],
  [/\/music-2/, { takes: { ...MINIMAX, lyrics: textWithin('lyrics', 1, 3500) }, needs: sung }],
  // It leaves voices out unless told not to.
  [/^elevenlabs\/music/, { takes: COMPOSED, always: { force_instrumental: false } }],
  [/\/lyria-2/, { takes: seeded }],
  [/\/stable-audio-2\.5/, { takes: { ...GUIDED, durationSeconds: wholeSeconds('duration', 1, 190) } }],
];

export const music = predictions<Request>({
  kind: 'audio',
  names: SOUND_NAMES,
  families: FAMILIES,
  usual: {
    ...seeded,
    lyrics: as('lyrics'),
    format: as('output_format'),
    durationSeconds: as('duration'),
    referenceAudio: single('input_audio'),
  },
  needs: prompted,
  reserved: [
    ...['duration', 'music_length_ms', 'seconds_total', 'total_seconds', 'force_instrumental'],
    ...['input_audio', 'song_file', 'voice_file', 'instrumental_file', 'audio_format'],
  ],
});

function milliseconds(seconds: number, field: string): WireFields {
  refuseOutside(field, seconds, 5, 300);
  return { music_length_ms: Math.round(seconds * 1000) };
}

import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { described } from '../kit/field-maps.ts';
import { between, type FieldMap, mapFields, oneOf, textWithin, type WireFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { type Medium, makeNow, results, submitTask, takeSeed } from './generations.ts';

type Request = SoundRequest<Media>;

const SOUND: Medium = { key: 'audio', results: '/v2beta/audio/results' };
const SOUND_TYPES: readonly string[] = ['audio/mpeg', 'audio/wav'];
const FORMATS = ['mp3', 'wav'];

/** Models that make longer pieces, as tasks. */
const QUEUED = /^stable-audio-[3-9]/;
const SECONDS_MAX = 190;
const QUEUED_SECONDS_MAX = 380;

const takes: FieldMap<Request> = {
  ...described('prompt', textWithin('prompt', 1, 10_000)),
  format: oneOf('output_format', FORMATS),
  guidanceScale: between('cfg_scale', 1, 25),
  seed: takeSeed,
  // Nothing is sung, whatever is asked for.
  instrumental: () => ({}),
  referenceAudio: (media, field) => {
    const [audio, second] = media;
    if (audio === undefined || second !== undefined) throw unsupported(field, { atMost: 1 });
    if (!SOUND_TYPES.includes(audio.mimeType)) throw unsupported(field, { oneOf: FORMATS });
    return { audio };
  },
};
const TAKES: FieldMap<Request> = { ...takes, durationSeconds: between('duration', 1, SECONDS_MAX) };
const QUEUED_TAKES: FieldMap<Request> = { ...takes, durationSeconds: between('duration', 1, QUEUED_SECONDS_MAX) };

/** What public fields decide. */
const RESERVED = ['duration', 'audio', 'output_format', 'cfg_scale'];

/** Music and sounds without words; one piece is made by a call. */
export const music: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, model);
  },

  perCall: () => 1,

  submit(request, _order, upstream) {
    const isQueued = QUEUED.test(upstream.model);
    const path = `/v2beta/audio/stable-audio${isQueued ? '' : '-2'}/${routeOf(request)}`;
    const fields = fieldsOf(request, upstream.model);
    return isQueued ? submitTask(upstream, path, fields) : makeNow(upstream, path, fields, SOUND);
  },

  ...results(SOUND),
};

/** A sound is changed as a whole, or between two seconds of it. */
function routeOf({ referenceAudio, extra }: Request): 'text-to-audio' | 'audio-to-audio' | 'inpaint' {
  if (referenceAudio.length === 0) return 'text-to-audio';
  return extra.mask_start === undefined && extra.mask_end === undefined ? 'audio-to-audio' : 'inpaint';
}

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): WireFields {
  const family = { takes: QUEUED.test(model) ? QUEUED_TAKES : TAKES, always: { model } };
  const fields = mapFields(request, family, SOUND_NAMES);
  if (fields.prompt === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  return { ...defaultsOf(request), ...request.extra, ...fields };
}

/** The vendor makes as much as it can where no length is named, and of a sound to go by it keeps nothing (strength 1). */
function defaultsOf(request: Request): WireFields {
  const duration = SECONDS_MAX;
  return routeOf(request) === 'audio-to-audio' ? { duration, strength: 0.5 } : { duration };
}

import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import {
  as,
  type FieldMap,
  mapFields,
  oneOf,
  type WireFields,
  type WireMedia,
  wholeSeconds,
  wordFor,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { queued } from './queue.ts';

type Request = VideoRequest<Media>;

const SECONDS = { from: 5, to: 20 } as const;
const SHAPES = ['21:9', '2:1', '16:9', '4:3', '1:1', '3:4', '9:16', 'auto'];
/** Frames stand in one list, which is made below. */
const listed = (): WireFields => ({});

const TAKES: FieldMap<Request> = {
  prompt: as('prompt'),
  seconds: wholeSeconds('duration', SECONDS.from, SECONDS.to),
  resolution: wordFor('resolution', { '720p': 'hd', '1080p': 'fhd' }),
  aspectRatio: (ratio, field) => oneOf('aspect_ratio', SHAPES)(ratio === 'adaptive' ? 'auto' : ratio, field),
  generateAudio: as('generate_audio'),
  firstFrame: listed,
  lastFrame: listed,
  sourceVideo: as('start_video'),
};

/** Whatever is sent for it changes what a clip is made from, how long it is or what it costs. */
const RESERVED = [
  'mode',
  'duration',
  'draft',
  'draft_id',
  'draft_cache',
  'keyframes',
  'start_video',
  'webhook_url',
  'webhook_secret',
];

/** Clips of FLUX 3, from words, from frames or from a clip. */
export const video = queued<Request>({
  check(request) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request);
  },
  fieldsOf: (request) => ({ ...request.extra, ...fieldsOf(request) }),
});

/** Throws ApiError for what the model cannot take. Sound that was not asked for is not in the price. */
function fieldsOf(request: Request): Readonly<Record<string, WireMedia>> {
  const fields = mapFields(request, { takes: TAKES, always: { generate_audio: false } }, VIDEO_NAMES);
  const keyframes = keyframesOf(request);
  if (request.prompt === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  if (keyframes.length === 0) return { ...fields, mode: request.sourceVideo === undefined ? 't2v' : 'v2v' };
  const frame = request.firstFrame === undefined ? 'last_frame' : 'first_frame';
  if (request.sourceVideo !== undefined) throw unsupported('ref_video_url', { notWith: frame });
  return { ...fields, mode: 'i2v', keyframes };
}

/** Each with its second. Where the last one stands is known only of a clip whose length is. */
function keyframesOf({ firstFrame, lastFrame, seconds }: Request): WireMedia[] {
  if (lastFrame !== undefined && seconds === undefined) throw unsupported('seconds', SECONDS);
  return [
    ...(firstFrame === undefined ? [] : [[0, firstFrame]]),
    ...(lastFrame === undefined ? [] : [[seconds, lastFrame]]),
  ];
}

import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { pictures } from '../kit/field-maps.ts';
import { as, type FieldMap, firstMatch, oneOf, type WireFields, wholeSeconds } from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { type Family, predictions } from './predictions.ts';

type Request = VideoRequest<Media>;
type Fields = FieldMap<Request>;

const prompted: Fields = { prompt: as('prompt') };
const seeded: Fields = { ...prompted, seed: as('seed') };
const negative: Fields = { negativePrompt: as('negative_prompt') };
const steady: Fields = { cameraFixed: as('camera_fixed') };
const audible: Fields = { generateAudio: as('generate_audio') };
/** They make sound, for more money, unless told not to. Where it was not asked for, it is not in the price. */
const SILENT: WireFields = { generate_audio: false };

const shapes = (words: string): Fields => ({ aspectRatio: (ratio, field) => shape(ratio, field, words.split(' ')) });
const resolutions = (words: string): Fields => ({ resolution: oneOf('resolution', words.split(' ')) });
const frames = (first: string, last?: string): Fields => ({
  firstFrame: as(first),
  ...(last !== undefined && { lastFrame: as(last) }),
});

const SEEDANCE: Fields = {
  ...seeded,
  ...steady,
  seconds: wholeSeconds('duration', 2, 12),
  ...shapes('16:9 4:3 1:1 3:4 9:16 21:9 9:21'),
  ...resolutions('480p 720p 1080p'),
  fps: only('fps', 24),
  ...frames('image', 'last_frame_image'),
};
const SEEDANCE_2: Fields = {
  ...seeded,
  ...audible,
  seconds: wholeSeconds('duration', 4, 15),
  ...shapes('16:9 4:3 1:1 3:4 9:16 21:9'),
  ...resolutions('480p 720p 1080p'),
  ...frames('image', 'last_frame_image'),
  ...pictures('reference_images', 9),
  referenceVideos: as('reference_videos'),
  referenceAudios: as('reference_audios'),
};
const VEO: Fields = {
  ...seeded,
  ...negative,
  ...audible,
  ...choices(4, 6, 8),
  ...shapes('16:9 9:16'),
  ...resolutions('720p 1080p'),
  ...frames('image'),
};
const KLING: Fields = { ...prompted, ...negative, ...choices(5, 10), ...shapes('16:9 9:16 1:1') };
const HAILUO: Fields = { ...prompted, ...choices(6, 10), ...frames('first_frame_image') };
/** It rewrites prompts unless told not to. */
const AS_WRITTEN: WireFields = { prompt_optimizer: false };

/** The first that fits the name counts. What a model takes differs even within a family. */
const FAMILIES: readonly (readonly [RegExp, Family<Request>])[] = [
  [/\/seedance-2/, { takes: SEEDANCE_2, always: SILENT }],
  [/\/seedance-1\.5/, { takes: { ...SEEDANCE, ...audible }, always: SILENT }],
  [/\/seedance-1-lite/, { takes: { ...SEEDANCE, ...pictures('reference_images', 4) } }],
  [/\/seedance-1/, { takes: SEEDANCE }],
  [
    /\/veo-3\.1/,
    { takes: { ...VEO, ...frames('image', 'last_frame'), ...pictures('reference_images', 3) }, always: SILENT },
  ],
  [/\/veo-3/, { takes: VEO, always: SILENT }],
  [/\/veo-2/, { takes: { ...seeded, ...choices(5, 6, 7, 8), ...shapes('16:9 9:16'), ...frames('image') } }],
  [/\/kling-v2\.6/, { takes: { ...KLING, ...audible, ...frames('start_image') }, always: SILENT }],
  [/\/kling-v2\.5/, { takes: { ...KLING, ...frames('start_image', 'end_image') } }],
  [/\/kling-v2\.1/, { takes: { ...prompted, ...negative, ...choices(5, 10), ...frames('start_image', 'end_image') } }],
  [/\/kling-/, { takes: { ...KLING, ...frames('start_image') } }],
  [
    /\/hailuo-02/,
    {
      takes: { ...HAILUO, ...resolutions('512p 768p 1080p'), ...frames('first_frame_image', 'last_frame_image') },
      defaults: AS_WRITTEN,
    },
  ],
  [/\/hailuo-/, { takes: { ...HAILUO, ...resolutions('768p 1080p') }, defaults: AS_WRITTEN }],
];

/** Of a model that is not known, all is asked for under the names that the vendor's models mostly have. */
const USUAL: Family<Request> = {
  takes: {
    ...seeded,
    ...negative,
    ...audible,
    ...frames('image', 'last_frame_image'),
    ...pictures('reference_images', 9),
    seconds: as('duration'),
    resolution: as('resolution'),
    aspectRatio: as('aspect_ratio'),
    fps: as('fps'),
    sourceVideo: as('video'),
  },
};

export const video = predictions<Request>({
  kind: 'video',
  names: VIDEO_NAMES,
  familyOf: (model) => firstMatch(FAMILIES, model) ?? USUAL,
  reserved: [
    ...['duration', 'num_frames', 'frames_per_second', 'mode', 'video', 'videos', 'audio', 'width', 'height'],
    ...['image', 'start_image', 'end_image', 'first_frame_image', 'last_frame_image', 'last_frame', 'reference_images'],
    ...['reference_videos', 'reference_audios', 'subject_reference'],
  ],
  require: ({ firstFrame, lastFrame }) => {
    // Every model of the vendor that takes a last frame takes it with a first one.
    if (lastFrame !== undefined && firstFrame === undefined) throw unsupported('first_frame', { atLeast: 1 });
  },
});

/** `auto` and `adaptive` leave it to the model. */
function shape(ratio: string, field: string, words: readonly string[]): WireFields {
  return ratio === 'auto' || ratio === 'adaptive' ? {} : oneOf('aspect_ratio', words)(ratio, field);
}

function choices(...known: readonly number[]): Fields {
  return {
    seconds: (seconds, field) => {
      if (!known.includes(seconds)) throw unsupported(field, { oneOf: known });
      return { duration: seconds };
    },
  };
}

function only(name: string, value: number): (asked: number, field: string) => WireFields {
  return (asked, field) => {
    if (asked !== value) throw unsupported(field, { oneOf: [value] });
    return { [name]: value };
  };
}

import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { pictures } from '../kit/field-maps.ts';
import {
  as,
  type FieldMap,
  oneOf,
  oneOfNumbers,
  several,
  shapeAmong,
  type WireFields,
  wholeSeconds,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { refuse } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { type Families, type Family, predictions } from './predictions.ts';

type Request = VideoRequest<Media>;
type Fields = FieldMap<Request>;

const prompted: Fields = { prompt: as('prompt') };
const seeded: Fields = { ...prompted, seed: as('seed') };
const negative: Fields = { negativePrompt: as('negative_prompt') };
const audible: Fields = { generateAudio: as('generate_audio') };
const lasting = (...seconds: readonly number[]): Fields => ({ seconds: oneOfNumbers('duration', seconds) });
const shapes = (words: string): Fields => ({ aspectRatio: shapeAmong('aspect_ratio', words.split(' ')) });
const resolutions = (words: string): Fields => ({ resolution: oneOf('resolution', words.split(' ')) });
/** Every model of the vendor that takes a last frame takes it with a first one. */
const frames = (first: string, last?: string): Fields => ({
  firstFrame: as(first),
  ...(last !== undefined && {
    lastFrame: (frame, _field, { firstFrame }) => {
      if (firstFrame === undefined) throw unsupported('first_frame', { atLeast: 1 });
      return { [last]: frame };
    },
  }),
});

/** The models differ in their own tier, and the tier has its price. */
const HD: WireFields = { resolution: '720p' };
/** They make sound, for more money, unless told not to. Where it was not asked for, it is not in the price. */
const SILENT: WireFields = { generate_audio: false };

const SEEDANCE: Fields = {
  ...seeded,
  cameraFixed: as('camera_fixed'),
  seconds: wholeSeconds('duration', 2, 12),
  ...shapes('16:9 4:3 1:1 3:4 9:16 21:9 9:21'),
  ...resolutions('480p 720p 1080p'),
  fps: oneOfNumbers('fps', [24]),
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
  referenceVideos: several('reference_videos', 3),
  referenceAudios: several('reference_audios', 3),
};
const VEO: Fields = {
  ...seeded,
  ...negative,
  ...audible,
  ...lasting(4, 6, 8),
  ...shapes('16:9 9:16'),
  ...resolutions('720p 1080p'),
  ...frames('image'),
};
const VEO_3_1: Fields = { ...VEO, ...frames('image', 'last_frame') };
const VEO_BY_PICTURES: Fields = { ...VEO_3_1, ...pictures('reference_images', 3) };
const KLING_FROM_FRAMES: Fields = {
  ...prompted,
  ...negative,
  ...lasting(5, 10),
  ...frames('start_image', 'end_image'),
};
const KLING: Fields = { ...prompted, ...negative, ...lasting(5, 10), ...shapes('16:9 9:16 1:1') };

/** What a model takes differs even within a family. */
const FAMILIES: Families<Request> = [
  [/\/seedance-2/, { takes: SEEDANCE_2, always: { ...HD, ...SILENT }, refuseTogether: refuseFramesBesideReferences }],
  [/\/seedance-1\.5/, { takes: { ...SEEDANCE, ...audible }, always: { ...HD, ...SILENT } }],
  [/\/seedance-1-lite/, { takes: { ...SEEDANCE, ...pictures('reference_images', 4) }, always: HD }],
  [/\/seedance-1/, { takes: SEEDANCE, always: HD }],
  [/\/veo-3\.1-fast/, { takes: VEO_3_1, always: { ...HD, ...SILENT } }],
  [/\/veo-3\.1/, { takes: VEO_BY_PICTURES, always: { ...HD, ...SILENT }, refuseTogether: refuseBesideReferences }],
  [/\/veo-3/, { takes: VEO, always: { ...HD, ...SILENT } }],
  [/\/veo-2/, { takes: { ...seeded, ...lasting(5, 6, 7, 8), ...shapes('16:9 9:16'), ...frames('image') } }],
  [/\/kling-v2\.6/, { takes: { ...KLING, ...audible, ...frames('start_image') }, always: SILENT }],
  [/\/kling-v2\.5/, { takes: { ...KLING, ...frames('start_image', 'end_image') } }],
  [/\/kling-v2\.1-master/, { takes: { ...KLING, ...frames('start_image') } }],
  [/\/kling-v2\.1/, { takes: KLING_FROM_FRAMES, needs: { prompt: 'prompt', start_image: 'first_frame' } }],
  [/\/kling-/, { takes: { ...KLING, ...frames('start_image') } }],
  [/\/hailuo-02/, hailuo({ ...resolutions('512p 768p 1080p'), ...frames('first_frame_image', 'last_frame_image') })],
  [/\/hailuo-/, hailuo(resolutions('768p 1080p'))],
];

export const video = predictions<Request>({
  kind: 'video',
  names: VIDEO_NAMES,
  families: FAMILIES,
  usual: {
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
  needs: { prompt: 'prompt' },
  reserved: [
    ...['duration', 'num_frames', 'frames_per_second', 'mode', 'video', 'videos', 'audio', 'width', 'height'],
    ...['image', 'start_image', 'end_image', 'first_frame_image', 'last_frame_image', 'last_frame', 'reference_images'],
    ...['reference_videos', 'reference_audios', 'subject_reference'],
  ],
});

/** Ten seconds are made in the middle tier alone, which is therefore asked for where none is. */
function hailuo(more: Fields): Family<Request> {
  return {
    takes: { ...prompted, ...lasting(6, 10), ...frames('first_frame_image'), ...more },
    always: { resolution: '768p' },
    // It rewrites prompts unless told not to.
    defaults: { prompt_optimizer: false },
    refuseTogether: ({ seconds, resolution = '768p' }) =>
      refuse('seconds', seconds === 10 && resolution !== '768p', { oneOf: [6] }),
  };
}

function refuseFramesBesideReferences(request: Request): void {
  const { firstFrame, referenceVideos, referenceAudios } = request;
  const hasPictures = picturesOf(request) > 0;
  if (firstFrame !== undefined && hasPictures) throw unsupported('first_frame', { notWith: 'reference_image_urls' });
  const isAlone = !hasPictures && referenceVideos.length === 0;
  refuse('reference_image_urls', referenceAudios.length > 0 && isAlone, { atLeast: 1 });
}

/** With pictures to go by it makes eight seconds of one shape, and would pass over a last frame in silence. */
function refuseBesideReferences(request: Request): void {
  const { lastFrame, seconds = 8, aspectRatio = '16:9' } = request;
  if (picturesOf(request) === 0) return;
  if (lastFrame !== undefined) throw unsupported('last_frame', { notWith: 'reference_image_urls' });
  refuse('seconds', seconds !== 8, { oneOf: [8] });
  refuse('aspect_ratio', aspectRatio !== '16:9' && aspectRatio !== 'auto', { oneOf: ['16:9'] });
}

function picturesOf({ inputReference, referenceImages }: Request): number {
  return referenceImages.length + (inputReference === undefined ? 0 : 1);
}

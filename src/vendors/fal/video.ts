import type { VideoRequest } from '../../schemas/index.ts';
import { pictures } from '../kit/field-maps.ts';
import {
  as,
  type FieldMap,
  firstMatch,
  type ModelFamily,
  mapFields,
  secondsText,
  type WireFields,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { queued } from './queue.ts';

type Request = VideoRequest<Media>;

interface VideoFamily extends ModelFamily<Request> {
  /** Where the clip begins and ends. */
  readonly frames?: FieldMap<Request>;
  /** What it goes by. */
  readonly references?: FieldMap<Request>;
  /** Taken only where no picture gives the shape. */
  readonly shape?: FieldMap<Request>;
}

const lasting: FieldMap<Request> = { prompt: as('prompt'), seconds: secondsText('duration') };
const lastingWithUnit: FieldMap<Request> = { prompt: as('prompt'), seconds: secondsText('duration', 's') };
const ratio: FieldMap<Request> = { aspectRatio: as('aspect_ratio') };
const negative: FieldMap<Request> = { negativePrompt: as('negative_prompt') };
const seeded: FieldMap<Request> = { seed: as('seed') };
const tier: FieldMap<Request> = { resolution: as('resolution') };
const steady: FieldMap<Request> = { cameraFixed: as('camera_fixed') };
const audible: FieldMap<Request> = { generateAudio: as('generate_audio') };
/** They make sound, for more money, unless told not to. Where it was not asked for, it is not in the price. */
const SILENT: WireFields = { generate_audio: false };

const startToEnd: FieldMap<Request> = { firstFrame: as('start_image_url'), lastFrame: as('end_image_url') };
const imageToEnd: FieldMap<Request> = { firstFrame: as('image_url'), lastFrame: as('end_image_url') };
const imageToTail: FieldMap<Request> = { firstFrame: as('image_url'), lastFrame: as('tail_image_url') };
const firstToLast: FieldMap<Request> = { firstFrame: as('first_frame_url'), lastFrame: as('last_frame_url') };
const source: FieldMap<Request> = { sourceVideo: as('video_url') };
const clips: FieldMap<Request> = { referenceVideos: as('video_urls'), referenceAudios: as('audio_urls') };
const images = pictures('image_urls');

const firstOnly: FieldMap<Request> = { firstFrame: as('image_url') };
const prompted: FieldMap<Request> = { prompt: as('prompt') };

const KLING: VideoFamily = { takes: { ...lasting, ...negative }, shape: ratio };
const LOUD_KLING: VideoFamily = { takes: { ...lasting, ...audible }, shape: ratio, always: SILENT };
const SEEDANCE: FieldMap<Request> = { ...lasting, ...ratio, ...tier, ...seeded };
const VEO2: FieldMap<Request> = { ...lastingWithUnit, ...ratio, ...negative, ...seeded };
const VEO: VideoFamily = { takes: { ...VEO2, ...tier, ...audible }, always: SILENT };
const VEO_BY_REFERENCE: FieldMap<Request> = { ...lastingWithUnit, ...ratio, ...tier, ...audible };

/** The first that fits the name counts. What a model takes differs even within a family. */
const FAMILIES: readonly (readonly [RegExp, VideoFamily])[] = [
  [/\/kling-video\/.*motion-control/, { takes: prompted, references: { inputReference: as('image_url') } }],
  [/\/kling-video\/.*\/edit/, { takes: prompted, references: images }],
  [/\/kling-video\/(o1|.*video-to-video)/, { takes: lasting, shape: ratio, frames: startToEnd, references: images }],
  [/\/kling-video\/o3\/.*reference-to/, { ...LOUD_KLING, references: { ...images, ...startToEnd } }],
  [/\/kling-video\/o3\//, { ...LOUD_KLING, frames: imageToEnd }],
  [/\/kling-video\/v(2\.6|3)\//, { ...LOUD_KLING, takes: { ...LOUD_KLING.takes, ...negative }, frames: startToEnd }],
  [/\/kling-video\/(v1\/|.*\/pro\/)/, { ...KLING, frames: imageToTail, references: pictures('input_image_urls') }],
  [/\/kling-video\//, { ...KLING, frames: firstOnly, references: pictures('input_image_urls') }],
  [/\/seedance\/v1\.5\//, { takes: { ...SEEDANCE, ...steady, ...audible }, frames: imageToEnd, always: SILENT }],
  [/\/seedance\/.*\/fast\//, { takes: { ...SEEDANCE, ...steady }, frames: firstOnly }],
  [
    /\/seedance\//,
    { takes: { ...SEEDANCE, ...steady }, frames: imageToEnd, references: pictures('reference_image_urls') },
  ],
  [
    /\/seedance-/,
    { takes: { ...SEEDANCE, ...audible }, frames: imageToEnd, references: { ...images, ...clips }, always: SILENT },
  ],
  [/\/veo2\/image-to-video/, { takes: lastingWithUnit, frames: firstOnly }],
  [/\/veo2/, { takes: VEO2 }],
  [/\/veo.*reference-to-video/, { takes: VEO_BY_REFERENCE, references: images, always: SILENT }],
  [/\/veo.*first-last-frame/, { ...VEO, frames: firstToLast }],
  [/\/veo/, { ...VEO, frames: firstOnly }],
];

/** Of a model that is not known, all is asked for under the usual names. */
const USUAL: VideoFamily = {
  takes: { ...lasting, ...ratio, ...tier, ...negative, ...seeded, ...steady, ...audible, fps: as('fps') },
  frames: imageToEnd,
  references: { ...images, ...clips },
};

/** Which media an endpoint takes is told by the end of its name. */
const ENDPOINTS: readonly (readonly [RegExp, (family: VideoFamily) => FieldMap<Request>])[] = [
  [/text-to-video/, (family) => ({ ...family.shape })],
  [/reference-to-video|\/elements$/, (family) => ({ ...family.shape, ...family.references })],
  [
    /video-to-video|motion-control|extend|edit|modify/,
    (family) => ({ ...family.shape, ...family.references, ...source }),
  ],
  [/image-to-video|frame-to-video/, (family) => ({ ...family.frames })],
];

export const video = queued<Request>({
  kind: 'video',
  priced: ['video_urls'],
  inputOf: (request, model) => mapFields(request, familyOf(model), VIDEO_NAMES),
});

function familyOf(model: string): VideoFamily {
  const known = firstMatch(FAMILIES, model);
  const family = known ?? USUAL;
  const mediaOf = firstMatch(ENDPOINTS, model);
  const anything = known === undefined ? { ...family.frames, ...family.references, ...source } : {};
  return { ...family, takes: { ...family.takes, ...(mediaOf?.(family) ?? anything) } };
}

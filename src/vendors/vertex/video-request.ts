import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { framesOrPictures } from '../kit/field-maps.ts';
import { withoutAddress } from '../kit/inline-media.ts';
import {
  as,
  between,
  type FieldMap,
  mapFields,
  oneOf,
  oneOfNumbers,
  shapeAmong,
  type WireFields,
  type WireMedia,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';

type Request = VideoRequest<Media>;

/** What public fields decide, what makes more than is paid for, and what takes the result elsewhere. */
export const RESERVED = [
  ...['instances', 'parameters', 'labels', 'sampleCount', 'durationSeconds', 'aspectRatio', 'generateAudio'],
  ...['negativePrompt', 'storageUri', 'gcsOutputDirectory', 'outputGcsUri', 'pubsubTopic', 'task', 'mask'],
];

const PICTURES_MAX = 3;
const SECONDS = [4, 6, 8];
/** The length of a clip that goes by pictures. */
const PICTURES_SECONDS = 8;
const FRAMES_PER_SECOND = 24;
const SEED_MAX = 2 ** 32 - 1;

/** Sizes of the tiers that are told by the number of their lines. */
const SIZES: ReadonlyMap<string, WireFields> = new Map([
  ['1280x720', { resolution: '720p', aspectRatio: '16:9' }],
  ['720x1280', { resolution: '720p', aspectRatio: '9:16' }],
  ['1920x1080', { resolution: '1080p', aspectRatio: '16:9' }],
  ['1080x1920', { resolution: '1080p', aspectRatio: '9:16' }],
  ['3840x2160', { resolution: '4k', aspectRatio: '16:9' }],
  ['2160x3840', { resolution: '4k', aspectRatio: '9:16' }],
]);

/** Sent unless a field says otherwise: by itself the vendor makes sound. The rest are its own defaults, so that they stay. */
const ALWAYS = { sampleCount: 1, durationSeconds: 8, resolution: '720p', generateAudio: false };

const none = (): WireFields => ({});

const TAKES: FieldMap<Request> = {
  // What is sent of these is for `instanceOf` to say.
  ...{ prompt: none, firstFrame: none, lastFrame: none, inputReference: none, referenceImages: none },
  seconds: oneOfNumbers('durationSeconds', SECONDS),
  resolution: (tier, field) => oneOf('resolution', ['720p', '1080p', '4k'])(tier.toLowerCase(), field),
  aspectRatio: shapeAmong('aspectRatio', ['16:9', '9:16']),
  size: (size, field, { resolution, aspectRatio }) => {
    if (size === 'auto') return {};
    if (resolution !== undefined) throw unsupported('resolution', { notWith: field });
    const fields = SIZES.get(size);
    if (fields === undefined) throw unsupported(field, { oneOf: ['auto', ...SIZES.keys()] });
    if (![undefined, 'auto', 'adaptive', fields.aspectRatio].includes(aspectRatio)) {
      throw unsupported('aspect_ratio', { notWith: field });
    }
    return fields;
  },
  fps: (fps, field) => {
    if (fps !== FRAMES_PER_SECOND) throw unsupported(field, { oneOf: [FRAMES_PER_SECOND] });
    return {};
  },
  seed: between('seed', 0, SEED_MAX),
  negativePrompt: as('negativePrompt'),
  generateAudio: as('generateAudio'),
};

/** How a clip is made. Throws ApiError for what the vendor cannot take. */
export function parametersOf(request: Request): Record<string, WireMedia> {
  return { ...ALWAYS, ...request.extra, ...mapFields(request, { takes: TAKES }, VIDEO_NAMES) };
}

/** What a clip is made of: words, frames or pictures to go by, all as bytes. Throws ApiError. */
export function instanceOf(request: Request): Record<string, WireMedia> {
  const { prompt, firstFrame, lastFrame, seconds } = request;
  const { pictures } = framesOrPictures(request, PICTURES_MAX);
  if (prompt === undefined && firstFrame === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  if (pictures.length > 0 && ![undefined, PICTURES_SECONDS].includes(seconds)) {
    throw unsupported('seconds', { oneOf: [PICTURES_SECONDS] });
  }
  return {
    prompt,
    ...(firstFrame !== undefined && { image: pictureFor(firstFrame) }),
    ...(lastFrame !== undefined && { lastFrame: pictureFor(lastFrame) }),
    ...(pictures.length > 0 && {
      referenceImages: pictures.map((picture) => ({ image: pictureFor(picture), referenceType: 'asset' })),
    }),
  };
}

function pictureFor(picture: Media): WireMedia {
  return { bytesBase64Encoded: withoutAddress(picture), mimeType: picture.mimeType };
}

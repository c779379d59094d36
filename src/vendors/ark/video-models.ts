import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { as, autoOnly, type FieldMap, firstMatch, implied, mapFields, oneOf, type WireFields } from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { refuse, refuseOutside } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';

type Request = VideoRequest<Media>;

/** What models take beside words. */
export interface VideoFamily {
  readonly seconds: readonly [from: number, to: number];
  readonly resolutions: readonly string[];
  /** Makes sound, for more money, unless told not to. */
  readonly hasSound?: boolean;
  readonly canFixCamera?: boolean;
  /** How many pictures can stand at the beginning and the end. */
  readonly frames: 0 | 1 | 2;
  /** How many pictures, clips and sounds it can go by. */
  readonly references?: { readonly images: number; readonly videos: number; readonly audios: number };
}

const TIERS: readonly string[] = ['480p', '720p', '1080p'];
const RATIOS: readonly string[] = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'];
const SEED_MAX = 2 ** 32 - 1;
const FRAMES_PER_SECOND = 24;
const ANYTHING = { images: 9, videos: 3, audios: 3 };

const SEEDANCE_1: VideoFamily = { seconds: [2, 12], resolutions: TIERS, canFixCamera: true, frames: 2 };
const SEEDANCE_2: VideoFamily = {
  seconds: [4, 15],
  resolutions: TIERS,
  hasSound: true,
  frames: 2,
  references: ANYTHING,
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, VideoFamily])[] = [
  [/seedance-2-5/, { ...SEEDANCE_2, seconds: [4, 30], resolutions: ['480p', '720p'] }],
  [/seedance-1-5/, { ...SEEDANCE_1, seconds: [4, 12], hasSound: true }],
  [/seedance-1-0-lite-t2v/, { ...SEEDANCE_1, frames: 0 }],
  [/seedance-1-0-lite-i2v/, { ...SEEDANCE_1, references: { images: 4, videos: 0, audios: 0 } }],
  [/seedance-1-0-pro-fast/, { ...SEEDANCE_1, frames: 1 }],
  [/seedance-1/, SEEDANCE_1],
];

/** A model that is not known, such as one behind the name of an endpoint, takes what the latest ones take. */
export function familyOf(model: string): VideoFamily {
  return firstMatch(FAMILIES, model) ?? SEEDANCE_2;
}

/** All of the body but its media and its words. Throws ApiError for what the model cannot take. */
export function optionsOf(request: Request, model: string): WireFields {
  const family = familyOf(model);
  const always: WireFields = {
    // The models differ in theirs, and the tier has its price.
    resolution: '720p',
    watermark: false,
    ...(family.hasSound === true && { generate_audio: false }),
  };
  return mapFields(request, { takes: takesOf(family), always }, VIDEO_NAMES);
}

function takesOf({ seconds, resolutions, hasSound, canFixCamera }: VideoFamily): FieldMap<Request> {
  return {
    ...CONTENT,
    seconds: (length, field) => {
      refuseOutside(field, length, ...seconds);
      if (!Number.isInteger(length)) throw unsupported(field, { oneOf: ['whole seconds'] });
      return { duration: length };
    },
    resolution: (tier, field) => oneOf('resolution', resolutions)(tier.toLowerCase(), field),
    size: autoOnly,
    // Only some of the models know `adaptive` for words alone; without the field each chooses.
    aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('ratio', RATIOS)(ratio, field)),
    fps: implied(FRAMES_PER_SECOND),
    seed: (seed, field) => {
      refuseOutside(field, seed, -1, SEED_MAX);
      return { seed };
    },
    watermark: as('watermark'),
    ...(hasSound === true && { generateAudio: as('generate_audio') }),
    ...(canFixCamera === true && { cameraFixed: as('camera_fixed') }),
  };
}

/** Words of the prompt that the vendor's older format takes for options: they would escape the checks and the price. */
const FLAGS =
  /(^|\s)--(resolution|rs|ratio|rt|duration|dur|frames|framespersecond|fps|watermark|wm|seed|camerafixed|cf)\b/i;
const none = (): WireFields => ({});

/** What is sent of these is for `contentOf` to say. */
const CONTENT: FieldMap<Request> = {
  prompt: (prompt, field) => {
    refuse(field, FLAGS.test(prompt));
    return {};
  },
  firstFrame: none,
  lastFrame: none,
  inputReference: none,
  referenceImages: none,
  referenceVideos: none,
  referenceAudios: none,
};

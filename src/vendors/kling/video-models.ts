import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import {
  as,
  autoOnly,
  type FieldMap,
  firstMatch,
  mapFields,
  oneOf,
  secondsText,
  type WireFields,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { refuseLength } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';

type Request = VideoRequest<Media>;

/** What models take beside words. */
export interface VideoFamily {
  readonly seconds: readonly number[];
  /** Standard and professional, which are the tiers; other models have one quality only. */
  readonly hasModes?: boolean;
  readonly hasSound?: boolean;
  /** Makes no clip from words alone. */
  readonly needsFrame?: boolean;
  readonly hasLastFrame?: boolean;
  /** How many pictures it can go by. */
  readonly references?: number;
}

const WORDS_MAX = 2500;
const RATIOS: readonly string[] = ['16:9', '9:16', '1:1'];
/** Unverified: that the modes are these tiers. */
const MODES: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro' };
const TO_15: readonly number[] = Array.from({ length: 13 }, (_, at) => at + 3);

const USUAL: VideoFamily = { seconds: [5, 10], hasModes: true, hasLastFrame: true };
const LATEST: VideoFamily = { ...USUAL, seconds: TO_15, hasSound: true };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, VideoFamily])[] = [
  [/^kling-v2.*master/, { seconds: [5, 10] }],
  [/^kling-v1-6/, { ...USUAL, references: 4 }],
  [/^kling-v2-1/, { ...USUAL, needsFrame: true }],
  [/^kling-v2-6/, { ...USUAL, hasSound: true }],
  [/^kling-v[12](-|$)/, USUAL],
];

/** A model that is not known takes what the latest ones take. */
export function familyOf(model: string): VideoFamily {
  return firstMatch(FAMILIES, model) ?? LATEST;
}

/** All of the body but its media. Throws ApiError for what the model cannot take. */
export function optionsOf(request: Request, family: VideoFamily): WireFields {
  const always: WireFields = {
    ...(family.hasModes === true && { mode: 'std' }),
    ...(family.hasSound === true && { sound: 'off' }),
  };
  const options = mapFields(request, { takes: takesOf(family), always }, VIDEO_NAMES);
  if (options.mode === 'std') refuseInStandard(request);
  return options;
}

/** Sound and a last frame need the professional mode. It must be asked for by its tier, which has its price. */
function refuseInStandard({ resolution, generateAudio, lastFrame }: Request): void {
  if (generateAudio !== true && lastFrame === undefined) return;
  if (resolution === undefined) throw unsupported('resolution', { oneOf: ['1080p'] });
  throw unsupported(generateAudio === true ? 'generate_audio' : 'last_frame', { notWith: 'resolution' });
}

function takesOf({ seconds, hasModes, hasSound }: VideoFamily): FieldMap<Request> {
  return {
    ...MEDIA,
    ...WRITTEN,
    seconds: secondsAmong(seconds),
    ...(hasModes === true && { resolution: modeOf }),
    size: autoOnly,
    aspectRatio: shape,
    watermark: (isWanted) => ({ watermark_info: { enabled: isWanted } }),
    ...(hasSound === true && { generateAudio: (isWanted) => ({ sound: isWanted ? 'on' : 'off' }) }),
  };
}

/** The second flow, which has numbers and tiers: what it calls settings. */
export function settingsOf(request: Request): WireFields {
  const takes: FieldMap<Request> = {
    prompt: (prompt, field) => {
      refuseLength(field, prompt, 0, WORDS_MAX);
      return {};
    },
    seconds: (length, field) => {
      secondsAmong(TO_15)(length, field);
      return { duration: length };
    },
    resolution: (tier, field) => oneOf('resolution', Object.keys(MODES))(tier.toLowerCase(), field),
    size: autoOnly,
    aspectRatio: shape,
    // It is one of its options, and these are built elsewhere.
    watermark: none,
    firstFrame: none,
  };
  return mapFields(request, { takes, always: { resolution: '720p' } }, VIDEO_NAMES);
}

const none = (): WireFields => ({});

/** What is sent of these is for the submission to say. */
const MEDIA: FieldMap<Request> = { firstFrame: none, lastFrame: none, inputReference: none, referenceImages: none };

const WRITTEN: FieldMap<Request> = {
  prompt: (prompt, field) => {
    refuseLength(field, prompt, 0, WORDS_MAX);
    return { prompt };
  },
  negativePrompt: (prompt, field) => {
    refuseLength(field, prompt, 0, WORDS_MAX);
    return as('negative_prompt')(prompt);
  },
};

function secondsAmong(known: readonly number[]): (length: number, field: string) => WireFields {
  return (length, field) => {
    if (!known.includes(length)) throw unsupported(field, { oneOf: known });
    return secondsText('duration')(length, field);
  };
}

function modeOf(tier: string, field: string): WireFields {
  const mode = MODES[tier.toLowerCase()];
  if (mode === undefined) throw unsupported(field, { oneOf: Object.keys(MODES) });
  return { mode };
}

/** A clip that begins with a picture has its shape. */
function shape(ratio: string, field: string, { firstFrame }: Request): WireFields {
  if (ratio === 'auto' || ratio === 'adaptive') return {};
  if (firstFrame !== undefined) throw unsupported(field, { notWith: 'first_frame' });
  return oneOf('aspect_ratio', RATIOS)(ratio, field);
}

import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import {
  as,
  autoOnly,
  between,
  type FieldMap,
  implied,
  isAutomatic,
  mapFields,
  oneOfNumbers,
  shapeAmong,
  textWithin,
  type WireFields,
  wholeSeconds,
  wordFor,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { NEGATIVE_CHARS_MAX, SEED_MAX } from './tasks.ts';
import type { VideoFamily } from './video-models.ts';

type Request = VideoRequest<Media>;

const TIER_USUAL = '720p';
const SHAPE_USUAL = '16:9';
const SECONDS_USUAL = 5;
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4'];

/** By tier, then by shape. */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480p': { '16:9': '832*480', '9:16': '480*832', '1:1': '624*624' },
  '720p': { '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960', '4:3': '1088*832', '3:4': '832*1088' },
  '1080p': { '16:9': '1920*1080', '9:16': '1080*1920', '1:1': '1440*1440', '4:3': '1632*1248', '3:4': '1248*1632' },
};

/** All fields but the media. Throws ApiError for what the family cannot take. */
export function fieldsOf(request: Request, family: VideoFamily): WireFields {
  const { seconds, sourceVideo, size } = request;
  const { shape, audio, tiers } = family;
  if (!isAutomatic(size) && request.resolution !== undefined) {
    // A tier has its price, and a size of the caller's own would get around it.
    throw unsupported('resolution', { notWith: 'size' });
  }
  const always: WireFields = {
    // The vendor's own choice is the dearest tier.
    ...(shape === 'size' ? { size: sizeFor(request, tiers) } : { resolution: TIER_USUAL.toUpperCase() }),
    // A clip that is changed has a length of its own.
    ...(seconds === undefined && sourceVideo === undefined && { duration: SECONDS_USUAL }),
    ...(audio === 'chosen' && { audio: false }),
  };
  return mapFields(request, { takes: takesOf(family), always }, VIDEO_NAMES);
}

const none = (): WireFields => ({});

const SOUND: Readonly<Record<VideoFamily['audio'], FieldMap<Request>>> = {
  chosen: { generateAudio: as('audio') },
  none: {},
  always: { generateAudio: implied(true) },
};

function takesOf(family: VideoFamily): FieldMap<Request> {
  const { seconds, slots, audio } = family;
  return {
    prompt: as('prompt'),
    negativePrompt: textWithin('negative_prompt', 0, NEGATIVE_CHARS_MAX),
    seconds: 'from' in seconds ? wholeSeconds('duration', seconds.from, seconds.to) : oneOfNumbers('duration', seconds),
    seed: between('seed', 0, SEED_MAX),
    watermark: as('watermark'),
    ...shapeOf(family),
    ...SOUND[audio],
    // Sent in a shape of their own.
    ...(slots.firstFrame !== undefined && { firstFrame: none }),
    ...(slots.lastFrame !== undefined && { lastFrame: none }),
    ...(slots.pictures !== undefined && { inputReference: none, referenceImages: none }),
    ...(slots.clips !== undefined && { referenceVideos: none }),
    ...(slots.sound !== undefined && { referenceAudios: none }),
    ...(slots.source !== undefined && { sourceVideo: none }),
  };
}

function shapeOf({ shape, tiers }: VideoFamily): FieldMap<Request> {
  if (shape === 'size') {
    const take = (_value: string, _field: string, request: Request) => ({ size: sizeFor(request, tiers) });
    return { size: take, resolution: take, aspectRatio: take };
  }
  return {
    size: autoOnly,
    resolution: wordFor('resolution', Object.fromEntries(tiers.map((tier) => [tier, tier.toUpperCase()]))),
    aspectRatio: shapeAmong('ratio', shape === 'ratio' ? RATIOS : []),
  };
}

/** The caller's size, or the one of its tier and shape. */
function sizeFor(request: Request, tiers: readonly string[]): string {
  const { size, resolution, aspectRatio } = request;
  if (!isAutomatic(size)) {
    const known = tiers.flatMap((tier) => Object.values(SIZES[tier] ?? {}).map((each) => each.replace('*', 'x')));
    if (!known.includes(size)) throw unsupported('size', { oneOf: known });
    return size.replace('x', '*');
  }
  const tier = resolution?.toLowerCase() ?? TIER_USUAL;
  if (!tiers.includes(tier)) throw unsupported('resolution', { oneOf: tiers });
  const sizes = SIZES[tier] ?? {};
  const chosen = sizes[isAutomatic(aspectRatio) ? SHAPE_USUAL : aspectRatio];
  if (chosen === undefined) throw unsupported('aspect_ratio', { oneOf: Object.keys(sizes) });
  return chosen;
}

import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import {
  as,
  type FieldMap,
  firstMatch,
  type ModelFamily,
  mapFields,
  type WireFields,
  type WireMedia,
} from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { refuse, refuseLength } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';

type Request = VideoRequest<Media>;
type Input = Record<string, WireMedia>;

interface ClipFamily extends ModelFamily<Request> {
  /** Made from a picture, and not from words alone. */
  readonly needs?: 'firstFrame' | 'subject';
}

const PROMPT_CHARS_MAX = 2000;
const OWN_TIER = '768p';

/** Tiers are written in capitals here. */
function tiers(...names: readonly string[]): FieldMap<Request> {
  return {
    resolution: (tier, field) => {
      refuse(field, !names.includes(tier.toLowerCase()), { oneOf: names });
      return { resolution: tier.toUpperCase() };
    },
  };
}

function lengths(...choices: readonly number[]): FieldMap<Request> {
  return {
    seconds: (seconds, field, { resolution }) => {
      refuse(field, !choices.includes(seconds), { oneOf: choices });
      if (seconds > 6 && resolution?.toLowerCase() === '1080p') throw unsupported(field, { notWith: 'resolution' });
      return { duration: seconds };
    },
  };
}

const wording: FieldMap<Request> = { prompt: as('prompt'), watermark: as('aigc_watermark') };
const first: FieldMap<Request> = { firstFrame: as('first_frame_image') };
const last: FieldMap<Request> = { lastFrame: as('last_frame_image') };
const HAILUO: ClipFamily = {
  takes: { ...wording, ...lengths(6, 10), ...tiers('768p', '1080p'), ...first },
  always: { resolution: OWN_TIER.toUpperCase() },
};
/** Unverified: the tier of the oldest models, of which every clip is. */
const OLDEST: FieldMap<Request> = { ...wording, ...lengths(6), ...tiers('720p') };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ClipFamily])[] = [
  [/^MiniMax-Hailuo-2\.3-Fast/i, { ...HAILUO, needs: 'firstFrame' }],
  [/^MiniMax-Hailuo-02/i, { ...HAILUO, takes: { ...HAILUO.takes, ...tiers('512p', '768p', '1080p'), ...last } }],
  [/^T2V-01/, { takes: OLDEST }],
  [/^I2V-01/, { takes: { ...OLDEST, ...first }, needs: 'firstFrame' }],
  [/^S2V-01/, { takes: { ...OLDEST, inputReference: () => ({}), referenceImages: () => ({}) }, needs: 'subject' }],
];

/** The input of a model of the first version; one that is not known takes what the latest ones take. Throws ApiError. */
export function clipFields(request: Request, model: string): Input {
  const family = firstMatch(FAMILIES, model) ?? HAILUO;
  const fields = mapFields(request, family, VIDEO_NAMES);
  refuseLength('prompt', request.prompt ?? '', 0, PROMPT_CHARS_MAX);
  if (family.needs === 'subject') return { ...fields, subject_reference: subjectOf(request) };
  if (request.firstFrame !== undefined) return fields;
  if (family.needs === 'firstFrame') throw unsupported('first_frame', { atLeast: 1 });
  // The end alone says nothing of the beginning.
  if (request.lastFrame === undefined) requirePrompt(request);
  return fields;
}

function requirePrompt({ prompt }: Request): void {
  refuseLength('prompt', prompt ?? '', 1, PROMPT_CHARS_MAX);
}

function picturesOf({ inputReference, referenceImages }: Request): readonly Media[] {
  return inputReference === undefined ? referenceImages : [inputReference, ...referenceImages];
}

function subjectOf(request: Request): WireMedia {
  const [picture, second] = picturesOf(request);
  if (picture === undefined) throw unsupported('reference_image_urls', { atLeast: 1 });
  if (second !== undefined) throw unsupported('reference_image_urls', { atMost: 1 });
  return [{ type: 'character', image: [picture] }];
}

const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const SECONDS = { min: 4, max: 15 };
const none = () => ({});

/** Media go into one list, where each says what it is for. */
const CONTENT_LIST: ModelFamily<Request> = {
  takes: {
    ...tiers('768p', '2k'),
    prompt: none,
    seconds: (seconds, field): WireFields => {
      const isTaken = Number.isInteger(seconds) && seconds >= SECONDS.min && seconds <= SECONDS.max;
      refuse(field, !isTaken, { from: SECONDS.min, to: SECONDS.max });
      return { duration: seconds };
    },
    aspectRatio: (ratio, field): WireFields => {
      const shape = ratio === 'auto' ? 'adaptive' : ratio;
      refuse(field, !RATIOS.includes(shape), { oneOf: RATIOS });
      return { ratio: shape };
    },
    seed: as('seed'),
    watermark: as('aigc_watermark'),
    ...{ firstFrame: none, lastFrame: none, inputReference: none, referenceImages: none },
    ...{ referenceVideos: none, referenceAudios: none, sourceVideo: none },
  },
  always: { resolution: OWN_TIER.toUpperCase() },
};

/** The input of a model of the second version. Throws ApiError. */
export function contentListFields(request: Request): Input {
  const fields = mapFields(request, CONTENT_LIST, VIDEO_NAMES);
  requirePrompt(request);
  const { firstFrame, lastFrame, referenceVideos, referenceAudios, sourceVideo } = request;
  const frames = [...part('image', 'first_frame', firstFrame), ...part('image', 'last_frame', lastFrame)];
  const references = [
    ...picturesOf(request).flatMap((picture) => part('image', 'reference_image', picture)),
    ...referenceVideos.flatMap((clip) => part('video', 'reference_video', clip)),
    ...referenceAudios.flatMap((sound) => part('audio', 'reference_audio', sound)),
    ...part('video', 'base_video', sourceVideo),
  ];
  if (frames.length > 0 && references.length > 0) {
    const name = firstFrame === undefined ? 'last_frame' : 'first_frame';
    throw unsupported(name, { notWith: referenceName(request) });
  }
  return { ...fields, content: [{ type: 'text', text: request.prompt }, ...frames, ...references] };
}

function part(kind: 'image' | 'video' | 'audio', role: string, media: Media | undefined): WireMedia[] {
  return media === undefined ? [] : [{ type: `${kind}_url`, [`${kind}_url`]: { url: media }, role }];
}

/** What the caller calls the reference that stands in the way. */
function referenceName(request: Request): string {
  const keys = ['inputReference', 'referenceImages', 'referenceVideos', 'referenceAudios', 'sourceVideo'] as const;
  const key = keys.find((each) => [request[each] ?? []].flat().length > 0);
  return VIDEO_NAMES.find(([name]) => name === key)?.[1] ?? 'reference_image_urls';
}

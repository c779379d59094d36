import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { as, autoOnly, type FieldMap, mapFields, oneOf, type WireFields } from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { addressOf, type Creation, generationWork, RATIOS } from './generations.ts';

type Request = VideoRequest<Media>;

const SECONDS: readonly number[] = [5, 9];
const TIERS: readonly string[] = ['540p', '720p', '1080p', '4k'];
/** The vendor's own defaults are not published, and both decide its price. */
const USUAL: WireFields = { duration: '5s', resolution: '720p' };

const none = (): WireFields => ({});
/** Sent in a shape of their own. */
const SLOTS: FieldMap<Request> = { prompt: as('prompt'), firstFrame: none, lastFrame: none, sourceVideo: none };

const CLIP: FieldMap<Request> = {
  ...SLOTS,
  seconds: (seconds, field) => {
    if (!SECONDS.includes(seconds)) throw unsupported(field, { oneOf: SECONDS });
    return { duration: `${seconds}s` };
  },
  resolution: (tier, field) => oneOf('resolution', TIERS)(tier.toLowerCase(), field),
  aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspect_ratio', RATIOS)(ratio, field)),
  size: autoOnly,
};

/** How far from the clip that is changed: in the middle, where no unmodelled key says otherwise. It is required. */
const MODE = { mode: 'flex_1' };

export const video = generationWork<Request>({
  asset: 'video',
  reserved: ['duration', 'resolution', 'keyframes', 'media', 'first_frame'],
  creationOf: (request) =>
    request.sourceVideo === undefined ? clipOf(request) : changeOf(request, request.sourceVideo),
});

/** Either end of the clip may be given. */
function clipOf(request: Request): Creation {
  const fields = mapFields(request, { takes: CLIP, always: USUAL }, VIDEO_NAMES);
  const { prompt, firstFrame, lastFrame } = request;
  const keyframes = {
    ...(firstFrame !== undefined && { frame0: { type: 'image', ...addressOf(firstFrame, 'first_frame') } }),
    ...(lastFrame !== undefined && { frame1: { type: 'image', ...addressOf(lastFrame, 'last_frame') } }),
  };
  const hasFrames = Object.keys(keyframes).length > 0;
  if (prompt === undefined && !hasFrames) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  return { path: '/generations/video', fields: { ...fields, ...(hasFrames && { keyframes }) } };
}

/** A clip that is changed keeps its length, its size and its shape. */
function changeOf(request: Request, source: Media): Creation {
  const fields = mapFields(request, { takes: SLOTS }, VIDEO_NAMES);
  const { firstFrame, lastFrame } = request;
  if (lastFrame !== undefined) throw unsupported('last_frame', { notWith: 'ref_video_url' });
  return {
    path: '/generations/video/modify',
    defaults: MODE,
    fields: {
      ...fields,
      generation_type: 'modify_video',
      media: addressOf(source, 'ref_video_url'),
      ...(firstFrame !== undefined && { first_frame: addressOf(firstFrame, 'first_frame') }),
    },
  };
}

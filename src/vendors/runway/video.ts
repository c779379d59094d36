import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { type FieldMap, implied, mapFields, type WireMedia } from '../kit/mapping.ts';
import { VIDEO_NAMES } from '../kit/public-names.ts';
import { refuseOutside } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { promptOf, seedOf, uriOf, urisOf } from './inputs.ts';
import { type Creation, taskWork } from './tasks.ts';
import { familyOf, type Mode, type VideoFamily } from './video-families.ts';

type Request = VideoRequest<Media>;

const PATHS: Readonly<Record<Mode, string>> = {
  text: '/v1/text_to_video',
  frames: '/v1/image_to_video',
  source: '/v1/video_to_video',
};

/** Formats other than mp4 and a rewriting of the whole clip cost more. */
const RESERVED = [
  ...['promptText', 'promptImage', 'promptVideo', 'videoUri', 'references', 'referenceVideos', 'referenceAudio'],
  ...['duration', 'ratio', 'resolution', 'audio', 'outputFormat', 'proresProfile', 'mode', 'targetAspectRatio'],
];

export const video = taskWork<Request>({ reserved: RESERVED, creationOf });

/** Frames, a clip to change and words alone are three routes, which differ in what they take. */
function creationOf(request: Request, model: string): Creation {
  const family = familyOf(model);
  const mode = modeOf(request, family);
  if (request.prompt === undefined && family.promptless?.includes(mode) !== true) {
    throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  }
  const shape = family.modes[mode] ?? (() => ({}));
  const fields = mapFields(
    request,
    { takes: takesOf(family), ...(family.always && { always: family.always }) },
    VIDEO_NAMES,
  );
  return {
    path: PATHS[mode],
    defaults: family.defaults,
    fields: {
      ...fields,
      ...promptOf(request, family.promptMax),
      ...shape(request),
      ...durationOf(request, family, mode),
      ...framesOf(request),
      ...sourceOf(request, family),
      ...referencesOf(request, family, mode),
    },
  };
}

function modeOf({ firstFrame, lastFrame, sourceVideo }: Request, { modes, hasLastFrame }: VideoFamily): Mode {
  if (lastFrame !== undefined && hasLastFrame !== true) throw unsupported('last_frame');
  const hasFrames = firstFrame !== undefined || lastFrame !== undefined;
  if (sourceVideo !== undefined) {
    if (modes.source === undefined) throw unsupported('ref_video_url');
    if (hasFrames)
      throw unsupported(firstFrame === undefined ? 'last_frame' : 'first_frame', { notWith: 'ref_video_url' });
    return 'source';
  }
  if (hasFrames) {
    if (modes.frames === undefined) throw unsupported(firstFrame === undefined ? 'last_frame' : 'first_frame');
    if (firstFrame === undefined) throw unsupported('first_frame', { atLeast: 1 });
    return 'frames';
  }
  if (modes.text === undefined)
    throw unsupported(modes.frames === undefined ? 'ref_video_url' : 'first_frame', { atLeast: 1 });
  return 'text';
}

const none = () => ({});
/** What is sent of these depends on which of them there are. */
const SLOTS: FieldMap<Request> = {
  prompt: none,
  seconds: none,
  resolution: none,
  size: none,
  aspectRatio: none,
  inputReference: none,
  referenceImages: none,
  firstFrame: none,
  lastFrame: none,
  referenceVideos: none,
  referenceAudios: none,
  sourceVideo: none,
};

function takesOf({ flags = [] }: VideoFamily): FieldMap<Request> {
  return Object.assign({}, SLOTS, ...flags.map((flag) => FLAGS[flag]));
}

const FLAGS: Readonly<Record<NonNullable<VideoFamily['flags']>[number], FieldMap<Request>>> = {
  seed: { seed: seedOf },
  negative: { negativePrompt: (words) => ({ negativePrompt: words }) },
  audio: { generateAudio: (isWanted) => ({ audio: isWanted }) },
  // There is always sound.
  sound: { generateAudio: implied(true) },
};

/** Some models require it, and the others' own default is not published: so it is always sent. */
function durationOf({ seconds }: Request, { lengths }: VideoFamily, mode: Mode): { readonly duration?: number } {
  if (lengths === undefined || (mode === 'source' && lengths.isOfSource === true)) {
    if (seconds !== undefined) throw unsupported('seconds');
    return {};
  }
  const duration = seconds ?? lengths.usual;
  if (lengths.only !== undefined && !lengths.only.includes(duration))
    throw unsupported('seconds', { oneOf: lengths.only });
  refuseOutside('seconds', duration, lengths.from ?? 0, lengths.to ?? Number.POSITIVE_INFINITY);
  if (!Number.isInteger(duration)) throw unsupported('seconds', { oneOf: ['whole seconds'] });
  return { duration };
}

function framesOf({ firstFrame, lastFrame }: Request): Record<string, WireMedia> {
  const frames = [
    ...(firstFrame === undefined ? [] : [{ uri: uriOf(firstFrame, 'first_frame'), position: 'first' }]),
    ...(lastFrame === undefined ? [] : [{ uri: uriOf(lastFrame, 'last_frame'), position: 'last' }]),
  ];
  return frames.length === 0 ? {} : { promptImage: frames };
}

function sourceOf({ sourceVideo }: Request, family: VideoFamily): Record<string, WireMedia> {
  const { sourceField = 'promptVideo', change } = family;
  return sourceVideo === undefined ? {} : { [sourceField]: uriOf(sourceVideo, 'ref_video_url'), ...change };
}

/** The picture to go by is one of the reference pictures, and the first. */
function referencesOf(request: Request, { references = {} }: VideoFamily, mode: Mode): Record<string, WireMedia> {
  const { inputReference, referenceImages, referenceVideos, referenceAudios } = request;
  const pictures = [...(inputReference === undefined ? [] : [inputReference]), ...referenceImages];
  const field = referenceImages.length === 0 ? 'input_reference' : 'reference_image_urls';
  const urisIn = (name: string, media: readonly Media[], kind: 'images' | 'videos' | 'audios') => {
    const most = references[mode]?.[kind] ?? 0;
    if (media.length === 0 || most > 0) return urisOf(media, name, most);
    const isRefusedForFrames = mode === 'frames' && (references.text?.[kind] ?? 0) > 0;
    throw unsupported(name, isRefusedForFrames ? { notWith: 'first_frame' } : 'none');
  };
  const lists = {
    references: urisIn(field, pictures, 'images'),
    referenceVideos: urisIn('reference_videos', referenceVideos, 'videos').map(({ uri }) => ({ type: 'video', uri })),
    referenceAudio: urisIn('reference_audios', referenceAudios, 'audios').map(({ uri }) => ({ type: 'audio', uri })),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

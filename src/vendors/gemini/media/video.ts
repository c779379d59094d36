import type { JsonObject } from '../../../json.ts';
import type { VideoRequest } from '../../../schemas/index.ts';
import { unsupported } from '../../../unsupported.ts';
import { wire } from '../../formats/generate-content/index.ts';
import { failed } from '../../kit/faults.ts';
import { framesOrPictures } from '../../kit/field-maps.ts';
import type { Upstream } from '../../kit/http.ts';
import { jsonWithMedia, withoutAddress } from '../../kit/inline-media.ts';
import { requiredString } from '../../kit/json.ts';
import { autoOnly, type FieldMap, implied, mapFields, oneOf, secondsText, type WireFields } from '../../kit/mapping.ts';
import { VIDEO_NAMES } from '../../kit/public-names.ts';
import { queueWork } from '../../kit/queue.ts';
import { refuseOutside } from '../../kit/refusals.ts';
import type { Media, Progress } from '../../vendor.ts';
import {
  contentOf,
  failedInteraction,
  INTERACTIONS,
  interactionAt,
  isCompleted,
  outputOf,
  refuseReserved,
  STATES,
  tokensIn,
} from './interactions.ts';

type Request = VideoRequest<Media>;

/** Clips made in the background, each with sound. Nothing finds one again whose submission got no answer. */
export const video = queueWork<Request>({
  wire,

  check(request) {
    refuseReserved(request.extra);
    formatOf(request);
    mediaOf(request);
  },

  submission: (request, _order, { model }) => {
    const { task, media } = mediaOf(request);
    const body = {
      ...request.extra,
      model,
      // Pictures are counted from the beginning, so the words come last.
      input: [...media, ...(request.prompt === undefined ? [] : [{ type: 'text', text: request.prompt }])],
      generation_config: { video_config: { task } },
      response_format: { type: 'video', resolution: '720p', delivery: 'uri', ...formatOf(request) },
      background: true,
      // Without it the result cannot be had by its address.
      store: true,
    };
    return { path: INTERACTIONS, body: jsonWithMedia(body, 'base64') };
  },

  taskIn: (answer) => ({ id: requiredString(answer, 'id') }),
  statusAt: interactionAt,
  states: STATES,
  outcome,
});

const SECONDS = { from: 3, to: 10 };
const PICTURES_MAX = 3;
const none = (): WireFields => ({});

/** What is sent of it depends on which of them there are, and is for `mediaOf` to say. */
const SLOTS: FieldMap<Request> = {
  prompt: none,
  inputReference: none,
  referenceImages: none,
  firstFrame: none,
  lastFrame: none,
  sourceVideo: none,
};

const TAKES: FieldMap<Request> = {
  ...SLOTS,
  seconds: (seconds, field) => {
    refuseOutside(field, seconds, SECONDS.from, SECONDS.to);
    return secondsText('duration', 's')(seconds, field);
  },
  resolution: (resolution, field) =>
    oneOf('resolution', ['360p', '720p', '1080p', '4k'])(resolution.toLowerCase(), field),
  aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspect_ratio', ['16:9', '9:16'])(ratio, field)),
  size: autoOnly,
  // There is always sound.
  generateAudio: implied(true),
};

/** Throws ApiError for what the vendor cannot take. */
function formatOf(request: Request): WireFields {
  return mapFields(request, { takes: TAKES }, VIDEO_NAMES);
}

interface Input {
  readonly task: 'text_to_video' | 'image_to_video' | 'reference_to_video' | 'edit';
  readonly media: readonly Readonly<Record<string, string | Media>>[];
}

/** Frames, pictures to go by and a clip to change are three tasks, and never mixed. */
function mediaOf(request: Request): Input {
  const { sourceVideo } = request;
  const { frames, pictures } = framesOrPictures(request, PICTURES_MAX);
  if (sourceVideo !== undefined) {
    if (frames.length > 0) throw unsupported('first_frame', { notWith: 'ref_video_url' });
    if (pictures.length > 0) throw unsupported('reference_image_urls', { notWith: 'ref_video_url' });
    return { task: 'edit', media: [contentFor('video', sourceVideo)] };
  }
  const media = [...frames, ...pictures].map((picture) => contentFor('image', picture));
  if (frames.length > 0) return { task: 'image_to_video', media };
  return { task: pictures.length > 0 ? 'reference_to_video' : 'text_to_video', media };
}

function contentFor(type: string, media: Media): Input['media'][number] {
  return { type, data: withoutAddress(media), mime_type: media.mimeType };
}

function outcome(answer: JsonObject, _task: JsonObject, upstream: Upstream): Progress {
  if (!isCompleted(answer)) return failedInteraction(answer);
  const clip = contentOf(answer, 'video').at(-1);
  if (clip === undefined) return failed('server', 'an interaction without a clip');
  return { state: 'succeeded', outputs: [outputOf(clip, upstream)], usage: tokensIn(answer) };
}

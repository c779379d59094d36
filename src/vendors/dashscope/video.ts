import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { callFor, pollTask, submitTask } from './tasks.ts';
import { fieldsOf } from './video-fields.ts';
import { mediaOf } from './video-media.ts';
import { videoFamily } from './video-models.ts';

type Request = VideoRequest<Media>;

const MEDIA_FIELDS = ['media', 'img_url', 'first_frame_url', 'last_frame_url', 'audio_url', 'reference_urls'];
const INPUTS: readonly string[] = ['prompt', 'negative_prompt', 'template', ...MEDIA_FIELDS];
/** What public fields decide. */
const RESERVED: readonly string[] = [
  ...['input', 'parameters', 'duration', 'ratio', 'audio', 'reference_video_urls'],
  ...MEDIA_FIELDS,
];
/** The vendor rewrites prompts unless told not to. */
const DEFAULTS = { prompt_extend: false, watermark: false };

export const video: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    inputOf(request, model);
  },

  perCall: () => 1,

  submit(request, _order, upstream) {
    const { model } = upstream;
    const fields = { ...DEFAULTS, ...request.extra, ...inputOf(request, model) };
    return submitTask(callFor(videoFamily(model).path, model, fields, INPUTS), upstream);
  },

  poll: pollTask,
};

/** Throws ApiError for what the model cannot take. */
function inputOf(request: Request, model: string): Record<string, WireMedia> {
  const family = videoFamily(model);
  const fields = fieldsOf(request, family);
  const media = mediaOf(request, family);
  const hasPicture = request.firstFrame !== undefined || request.sourceVideo !== undefined;
  if (request.prompt === undefined && !hasPicture) throw unsupported('prompt', { atLeast: 1, unit: 'character' });
  return { ...fields, ...media };
}

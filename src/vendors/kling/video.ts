import type { VideoRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { WireMedia } from '../kit/mapping.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { type Submission, tasksOf } from './tasks.ts';
import { familyOf, optionsOf, settingsOf, type VideoFamily } from './video-models.ts';

type Request = VideoRequest<Media>;

/** What public fields decide, what costs more, and what would take the result elsewhere. */
const RESERVED: readonly string[] = [
  ...['model_name', 'mode', 'sound', 'image', 'image_tail', 'image_list', 'watermark_info', 'voice_list'],
  ...['contents', 'settings', 'options', 'callback_url', 'external_task_id'],
];

export const video = tasksOf<Request>({
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    submissionOf(request, '', model);
  },
  perCall: () => 1,
  submission: (request, { id }, model) => submissionOf(request, id, model),
});

/** Throws ApiError for what the model cannot take. */
function submissionOf(request: Request, name: string, model: string): Submission {
  if (/^kling-3\.0/.test(model)) return secondFlow(request, name, model);
  const family = familyOf(model);
  const { path, media } = placeOf(request, family);
  const options = optionsOf(request, family);
  const body = { ...request.extra, model_name: model, ...options, ...media, external_task_id: name };
  return { path, body, isMarked: request.watermark === true };
}

interface Place {
  readonly path: string;
  readonly media: Readonly<Record<string, WireMedia>>;
}

/** Words, frames and pictures to go by have a queue each, and are never mixed. */
function placeOf(request: Request, family: VideoFamily): Place {
  const { prompt, firstFrame, lastFrame, inputReference, referenceImages } = request;
  const pictures = inputReference === undefined ? referenceImages : [inputReference, ...referenceImages];
  if (pictures.length > 0) {
    const { references = 0 } = family;
    refuse('input_reference', inputReference !== undefined && references === 0, 'none');
    refuse('reference_image_urls', pictures.length > references, references === 0 ? 'none' : { atMost: references });
    if (firstFrame !== undefined) throw unsupported('first_frame', { notWith: 'reference_image_urls' });
    if (lastFrame !== undefined) throw unsupported('last_frame', { notWith: 'reference_image_urls' });
    if (prompt === undefined) throw unsupported('prompt', { atLeast: 1, unit: 'characters' });
    return { path: '/v1/videos/multi-image2video', media: { image_list: pictures.map((image) => ({ image })) } };
  }
  refuse('last_frame', lastFrame !== undefined && family.hasLastFrame !== true, 'none');
  if (firstFrame !== undefined) {
    return { path: '/v1/videos/image2video', media: { image: firstFrame, image_tail: lastFrame } };
  }
  if (lastFrame !== undefined || family.needsFrame === true) throw unsupported('first_frame', { atLeast: 1 });
  return { path: '/v1/videos/text2video', media: {} };
}

function secondFlow(request: Request, name: string, model: string): Submission {
  const { prompt, firstFrame, watermark, extra } = request;
  const settings = settingsOf(request);
  const watermark_info = watermark === undefined ? undefined : { enabled: watermark };
  const options = { external_task_id: name, watermark_info };
  const isMarked = watermark === true;
  if (firstFrame === undefined) {
    return { path: `/text-to-video/${model}`, body: { ...extra, prompt, settings, options }, isMarked };
  }
  const words = prompt === undefined ? [] : [{ type: 'prompt', text: prompt }];
  const contents = [...words, { type: 'first_frame', url: firstFrame }];
  return { path: `/image-to-video/${model}`, body: { ...extra, contents, settings, options }, isMarked };
}

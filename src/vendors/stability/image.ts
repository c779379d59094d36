import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { mapFields, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { type Medium, makeNow, results, submitTask } from './generations.ts';
import { type Service, serviceOf } from './services.ts';

type Request = ImageRequest<Media>;

const PICTURE: Medium = { key: 'image', results: '/v2beta/results' };

/** What public fields decide: the pictures, and what is made of them. */
const RESERVED = [
  ...['image', 'subject_image', 'init_image', 'style_image', 'background_reference', 'light_reference'],
  ...['mode', 'style_preset', 'background_prompt'],
];

/** One picture is made by a call. */
export const image: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, serviceOf(model));
  },

  perCall: () => 1,

  submit(request, _order, upstream) {
    const service = serviceOf(upstream.model);
    const path = `/v2beta/stable-image/${service.path}`;
    const fields = fieldsOf(request, service);
    return service.isQueued === true ? submitTask(upstream, path, fields) : makeNow(upstream, path, fields, PICTURE);
  },

  ...results(PICTURE),
};

/** Throws ApiError for what the service cannot take, and for what it cannot do without. */
function fieldsOf(request: Request, service: Service): WireFields {
  const { picturesMin = 0, besidePicture, checkKeys } = service;
  const fields = mapFields(request, service, IMAGE_NAMES);
  if (request.referenceImages.length < picturesMin) throw unsupported('reference_images', { atLeast: picturesMin });
  checkKeys?.(request.extra);
  return { ...(request.referenceImages.length > 0 && besidePicture), ...request.extra, ...fields };
}

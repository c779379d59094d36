import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { mapFields, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { type Medium, makeNow, results, submitTask } from './generations.ts';
import { type Operation, operationOf } from './operations.ts';

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
    fieldsOf(request, operationOf(model));
  },

  perCall: () => 1,

  submit(request, _order, upstream) {
    const operation = operationOf(upstream.model);
    const path = `/v2beta/stable-image/${operation.path}`;
    const fields = fieldsOf(request, operation);
    return operation.isQueued === true ? submitTask(upstream, path, fields) : makeNow(upstream, path, fields, PICTURE);
  },

  ...results(PICTURE),
};

/** Throws ApiError for what the operation cannot take, and for what it cannot do without. */
function fieldsOf(request: Request, operation: Operation): WireFields {
  const { picturesMin = 0, besidePicture, checkKeys } = operation;
  const fields = mapFields(request, operation, IMAGE_NAMES);
  if (request.referenceImages.length < picturesMin) throw unsupported('reference_images', { atLeast: picturesMin });
  checkKeys?.(request.extra);
  return { ...(request.referenceImages.length > 0 && besidePicture), ...request.extra, ...fields };
}

import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { autoOnly, type FieldMap, mapFields, oneOf, single, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseLength } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { tasksOf } from './tasks.ts';

type Request = ImageRequest<Media>;

const PICTURES_MAX = 9;
const WORDS_MAX = 2500;
const RATIOS: readonly string[] = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'];

/** What public fields decide, and what would take the result elsewhere. */
const RESERVED: readonly string[] = ['model_name', 'image', 'callback_url', 'external_task_id'];

const TAKES: FieldMap<Request> = {
  prompt: (prompt, field) => {
    refuseLength(field, prompt, 0, WORDS_MAX);
    return { prompt };
  },
  negativePrompt: (negative_prompt, field, { referenceImages }) => {
    if (referenceImages.length > 0) throw unsupported(field, { notWith: 'reference_images' });
    refuseLength(field, negative_prompt, 0, WORDS_MAX);
    return { negative_prompt };
  },
  size: autoOnly,
  resolution: (tier, field) => oneOf('resolution', ['1k', '2k'])(tier.toLowerCase(), field),
  aspectRatio: (ratio, field) => (ratio === 'auto' ? {} : oneOf('aspect_ratio', RATIOS)(ratio, field)),
  referenceImages: single('image'),
};

export const image = tasksOf<Request>({
  check(request) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request);
  },

  perCall: ({ n }) => Math.min(n, PICTURES_MAX),

  submission: (request, { id, count }, model) => ({
    path: '/v1/images/generations',
    body: {
      ...defaultsFor(request, model),
      ...request.extra,
      model_name: model,
      ...fieldsOf(request),
      n: count,
      external_task_id: id,
    },
  }),
});

/** Throws ApiError for what no model of this vendor takes. */
function fieldsOf(request: Request): WireFields {
  return mapFields(request, { takes: TAKES }, IMAGE_NAMES);
}

/** This model wants to be told what of a picture to go by, which callers may say in `image_reference`. */
function defaultsFor({ referenceImages }: Request, model: string): WireFields {
  return /^kling-v1-5/.test(model) && referenceImages.length > 0 ? { image_reference: 'subject' } : {};
}

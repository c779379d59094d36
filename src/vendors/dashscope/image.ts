import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { Upstream } from '../kit/http.ts';
import { as, between, type FieldMap, implied, mapFields, textWithin, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { Call } from '../kit/wire.ts';
import type { Media, TaskOrder, TaskWork } from '../vendor.ts';
import { type ImageFamily, imageFamily } from './image-models.ts';
import { callFor, NEGATIVE_CHARS_MAX, pollTask, resultOf, SEED_MAX, submitTask } from './tasks.ts';
import { GENERATION, wire } from './wire.ts';

type Request = ImageRequest<Media>;

/** What public fields decide, and what would bring more pictures than are paid for. */
const RESERVED: readonly string[] = [
  ...['input', 'parameters', 'messages', 'images', 'n', 'stream'],
  ...['enable_sequential', 'enable_interleave', 'max_images'],
];
/** More pixels than these are made from words alone. */
const EDITED_PIXELS_MAX = 2048 ** 2;

/** Tasks, or pictures that come with the answer: the model says which. */
export const image: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, imageFamily(model));
  },

  perCall: ({ n }, model) => Math.min(n, imageFamily(model).countMax),

  async submit(request, order, upstream) {
    const call = callOf(request, order, upstream);
    return call.path === GENERATION ? resultOf(await wire.json(upstream, call)) : submitTask(call, upstream);
  },

  poll: pollTask,
};

function callOf(request: Request, { count }: TaskOrder, { model }: Upstream): Call {
  const family = imageFamily(model);
  const { prompt = '', images, ...fields } = fieldsOf(request, family);
  // Several models make four unless told how many.
  const rest = { ...family.defaults, ...request.extra, ...fields, n: count };
  if (!family.hasMessages) {
    return callFor(family.path, model, { prompt, images, ...rest }, ['prompt', 'negative_prompt', 'images']);
  }
  const content = [{ text: prompt }, ...request.referenceImages.map((picture) => ({ image: picture }))];
  return callFor(family.path, model, { messages: [{ role: 'user', content }], ...rest }, ['messages']);
}

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, { pictures: [min, max], sizes, hasNegativePrompt }: ImageFamily): WireFields {
  refuse('reference_images', request.referenceImages.length < min, { atLeast: min });
  const takes: FieldMap<Request> = {
    prompt: as('prompt'),
    seed: between('seed', 0, SEED_MAX),
    watermark: as('watermark'),
    outputFormat: implied('png'),
    ...(hasNegativePrompt && { negativePrompt: textWithin('negative_prompt', 0, NEGATIVE_CHARS_MAX) }),
    ...(max > 0 && { referenceImages: (media, field) => picturesOf(media, field, request, max) }),
    ...sizes,
  };
  return mapFields(request, { takes }, IMAGE_NAMES);
}

function picturesOf(media: readonly Media[], field: string, { size, resolution }: Request, max: number): WireFields {
  if (media.length > max) throw unsupported(field, { atMost: max });
  const [width = 0, height = 0] = (size ?? '').split('x').map(Number);
  refuse(field, width * height > EDITED_PIXELS_MAX, { notWith: 'size' });
  refuse(field, resolution?.toLowerCase() === '4k', { notWith: 'resolution' });
  return { images: media };
}

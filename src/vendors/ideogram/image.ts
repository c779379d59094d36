import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { formWithMedia } from '../kit/forms.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { objectsAt, stringAt } from '../kit/json.ts';
import { mapFields, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Call } from '../kit/wire.ts';
import type { Output, TaskWork } from '../vendor.ts';
import { operationOf, type Request } from './operations.ts';
import { wire } from './wire.ts';

/** What public fields and the route decide, and what has another price. */
const RESERVED = [
  ...['num_images', 'rendering_speed', 'text_prompt', 'json_prompt', 'custom_model_uri', 'upscale_factor', 'image'],
  ...['style_reference_images', 'character_reference_images', 'character_reference_images_mask'],
];

/** Pictures made while the vendor keeps the line open. There is no task, and so nothing to ask after or to find again. */
export const image: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    toCall(request, 1, model);
  },

  perCall: (request, model) => Math.min(request.n, operationOf(request, model).countMax),

  async submit(request, { count }, upstream) {
    const answer = await wire.json(upstream, toCall(request, count, upstream.model));
    return { state: 'succeeded', outputs: outputsIn(answer) };
  },
};

/** Throws ApiError for what the model cannot take. */
function toCall(request: Request, count: number, model: string): Call {
  const { version, name, takes, defaults, isForm, countMax } = operationOf(request, model);
  const mapped = mapFields(request, { takes }, IMAGE_NAMES);
  const counted = countMax === 1 ? {} : { num_images: count };
  const fields: WireFields = { ...defaults, ...request.extra, ...mapped, ...counted };
  const path = `/v1/${encodeURIComponent(version)}/${name}`;
  return { path, body: isForm ? { form: formWithMedia(fields) } : jsonWithMedia(fields) };
}

/** What is not safe has no link. The others are delivered, and they alone are paid. */
function outputsIn(answer: JsonObject): Output[] {
  const entries = objectsAt(answer, 'data');
  const safe = entries.filter((entry) => entry.is_image_safe !== false);
  if (safe.length === 0 && entries.length > 0) throw new UpstreamError('policy', 'every picture was withheld');
  const urls = safe.map((entry) => stringAt(entry, 'url') ?? '').filter((url) => url !== '');
  if (urls.length === 0) throw new UpstreamError('garbled', 'an answer without pictures');
  return urls.map((url) => ({ url }));
}

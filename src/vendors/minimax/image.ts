import { UpstreamError } from '../../errors.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { listAt, objectAt } from '../kit/json.ts';
import { as, type FieldMap, mapFields, oneOf, single, type WireMedia } from '../kit/mapping.ts';
import { inPixels } from '../kit/pixel-size.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { wire } from './wire.ts';

type Request = ImageRequest<Media>;

const COUNT_MAX = 9;
const SIDES = { sideMin: 512, sideMax: 2048, step: 8, pixelsMax: 2048 * 2048 };
const RATIOS = ['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'];
/** What public fields decide. */
const RESERVED = ['aspect_ratio', 'width', 'height', 'response_format', 'subject_reference', 'aigc_watermark'];

const TAKES: FieldMap<Request> = {
  prompt: as('prompt'),
  size: inPixels({ ...SIDES, tiers: {} }).size,
  // Every shape has one megapixel, so that there is nothing to send.
  resolution: (tier, field) => {
    if (tier.toLowerCase() !== '1k') throw unsupported(field, { oneOf: ['1k'] });
    return {};
  },
  aspectRatio: (ratio, field, { size }) => {
    if (size !== undefined && size !== 'auto') throw unsupported(field, { notWith: 'size' });
    return ratio === 'auto' ? {} : oneOf('aspect_ratio', RATIOS)(ratio, field);
  },
  seed: as('seed'),
  watermark: as('aigc_watermark'),
  referenceImages: single('character'),
};

/** Pictures made while the vendor keeps the line open. There is no task, and so nothing to ask after or to find again. */
export const image: TaskWork<Request> = {
  check(request) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request);
  },

  perCall: ({ n }) => Math.min(n, COUNT_MAX),

  async submit(request, { count }, upstream) {
    const input = { prompt_optimizer: false, ...request.extra, ...fieldsOf(request) };
    const body = jsonWithMedia({ ...input, model: upstream.model, n: count, response_format: 'url' });
    const answer = await wire.json(upstream, { path: '/v1/image_generation', body });
    const urls = listAt(objectAt(answer, 'data'), 'image_urls') ?? [];
    // Fewer than were ordered may come, of which only those are paid.
    const outputs = urls.flatMap((url) => (typeof url === 'string' && url !== '' ? [{ url }] : []));
    if (outputs.length === 0) throw new UpstreamError('garbled', 'an answer without pictures');
    return { state: 'succeeded', outputs };
  },
};

/** Throws ApiError for what the models cannot take. */
function fieldsOf(request: Request): Record<string, WireMedia> {
  const { character, ...fields } = mapFields(request, { takes: TAKES }, IMAGE_NAMES);
  if (character === undefined) return fields;
  return { ...fields, subject_reference: [{ type: 'character', image_file: character }] };
}

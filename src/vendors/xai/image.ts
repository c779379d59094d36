import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../limits.ts';
import { canonicalQuality } from '../../quality.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import type { JsonWithBlobs } from '../kit/blobs.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { amountAt, listAt, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { as, autoOnly, type FieldMap, mapFields, oneOf, type WireMedia } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import type { Media, Output, TaskWork } from '../vendor.ts';
import { wire } from './wire.ts';

type Request = ImageRequest<Media>;

const COUNT_MAX = 3;
const SOURCES_MAX = 3;
const QUALITIES = ['low', 'medium', 'high'];
const TIERS = ['1k', '2k'];
const RATIOS = [
  ...['auto', '1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:19.5', '19.5:9', '9:20', '20:9', '1:2', '2:1'],
];
/** What public fields decide, and what would take the result elsewhere. */
const RESERVED = ['resolution', 'aspect_ratio', 'response_format', 'image', 'images', 'storage_options', 'stream'];

const TAKES: FieldMap<Request> = {
  prompt: as('prompt'),
  size: autoOnly,
  resolution: (tier, field) => oneOf('resolution', TIERS)(tier.toLowerCase(), field),
  aspectRatio: oneOf('aspect_ratio', RATIOS),
  outputFormat: as('output_format'),
  referenceImages: () => ({}),
};
/** Other models take a quality, and make the same of it. */
const GRADED: FieldMap<Request> = {
  ...TAKES,
  quality: (quality, field) => {
    const word = canonicalQuality(quality);
    return word === 'auto' ? {} : oneOf('quality', QUALITIES)(word, field);
  },
};
const GRADED_MODELS = /image-2/;

/** Pictures made while the vendor keeps the line open. There is no task, and so nothing to ask after or to find again. */
export const image: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, model);
  },

  perCall: ({ n }) => Math.min(n, COUNT_MAX),

  async submit(request, { count }, upstream) {
    const { model } = upstream;
    const fields = { ...request.extra, ...fieldsOf(request, model), model, n: count, response_format: 'b64_json' };
    const path = request.referenceImages.length === 0 ? '/images/generations' : '/images/edits';
    const call = { path, body: jsonWithMedia(fields) };
    const answer = await wire.jsonWithBlobs(upstream, call, 'b64_json', UPSTREAM_PICTURES_BYTES_MAX);
    const credits = amountAt(objectAt(answer.json, 'usage'), 'cost_in_usd_ticks');
    return { state: 'succeeded', outputs: outputsIn(answer), usage: { credits } };
  },
};

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): Record<string, WireMedia> {
  const fields = mapFields(request, { takes: GRADED_MODELS.test(model) ? GRADED : TAKES }, IMAGE_NAMES);
  const sources = request.referenceImages.map((url) => ({ url, type: 'image_url' }));
  refuse('reference_images', sources.length > SOURCES_MAX, { atMost: SOURCES_MAX });
  if (sources.length === 0) return fields;
  return sources.length === 1 ? { ...fields, image: sources[0] } : { ...fields, images: sources };
}

/** What moderation stopped is an empty place, or an empty list. */
function outputsIn({ json, blobs }: JsonWithBlobs): Output[] {
  const entries = objectsAt(json, 'data');
  const allowed = entries.filter((entry) => entry.respect_moderation !== false);
  if (allowed.length === 0 && listAt(json, 'data') !== undefined) {
    throw new UpstreamError('policy', `every picture was withheld: ${stringAt(json, 'block_reason')}`);
  }
  const outputs = allowed.flatMap((entry) => outputOf(entry, blobs) ?? []);
  if (outputs.length === 0) throw new UpstreamError('garbled', 'an answer without pictures');
  return outputs;
}

function outputOf(entry: JsonObject, blobs: readonly Buffer[]): Output | undefined {
  const data = typeof entry.b64_json === 'number' ? blobs[entry.b64_json] : undefined;
  const url = stringAt(entry, 'url') ?? '';
  if (data !== undefined && data.length > 0) return { data };
  return url === '' ? undefined : { url };
}

import { UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../../limits.ts';
import type { ImageRequest } from '../../../schemas/index.ts';
import type { JsonWithBlobs } from '../../kit/blobs.ts';
import { outputAt } from '../../kit/data-url.ts';
import { extensionOf, toParts } from '../../kit/forms.ts';
import { countAt, objectAt, objectsAt, stringAt } from '../../kit/json.ts';
import type { Part } from '../../kit/multipart.ts';
import type { Call, Wire } from '../../kit/wire.ts';
import type { Media, Output, TaskUsage, TaskWork } from '../../vendor.ts';
import { checkFields, fieldsOf, type ImageFamily, imageFamily, sizeOf } from './image-fields.ts';
import { pixelsOf } from './image-size.ts';

const COUNT_MAX = 10;
/** A picture needs no more than four bytes for each of its pixels, and base64 a third more. */
const ANSWER_BYTES_PER_PIXEL_MAX = (4 * 4) / 3;

/** Pictures made while the upstream keeps the line open. There is no task, and so nothing to ask after or to find again. */
export function imageOver(wire: Wire, familyOf = imageFamily): TaskWork<ImageRequest<Media>> {
  return {
    check: (request, upstreamModel) => checkFields(request, familyOf(upstreamModel)),

    /** As many as the largest answer that is read has room for, whatever is in them. */
    perCall(request, upstreamModel) {
      const answerBytes = pixelsOf(sizeOf(request, familyOf(upstreamModel))) * ANSWER_BYTES_PER_PIXEL_MAX;
      const fitting = Math.floor(UPSTREAM_PICTURES_BYTES_MAX / answerBytes);
      return Math.max(1, Math.min(request.n, COUNT_MAX, fitting));
    },

    async submit(request, { count }, upstream) {
      const call = toCall(request, count, upstream.model, familyOf(upstream.model));
      const answer = await wire.jsonWithBlobs(upstream, call, 'b64_json', UPSTREAM_PICTURES_BYTES_MAX);
      return { state: 'succeeded', outputs: outputsIn(answer), usage: usageIn(answer.json) };
    },
  };
}

function toCall(request: ImageRequest<Media>, count: number, model: string, family: ImageFamily): Call {
  const json = fieldsOf(request, count, model, family);
  const files = filesOf(request);
  if (files.length === 0) return { path: '/images/generations', body: { json } };
  const values = toParts(json, 'brackets').filter(({ name }) => !isOfFile(name));
  return { path: '/images/edits', body: { form: [...values, ...files] } };
}

function filesOf({ referenceImages, mask }: ImageRequest<Media>): Part[] {
  const name = referenceImages.length === 1 ? 'image' : 'image[]';
  const images = referenceImages.map((file, at) => ({ name, fileName: `image-${at + 1}.${extensionOf(file)}`, file }));
  return mask === undefined ? images : [...images, { name: 'mask', fileName: `mask.${extensionOf(mask)}`, file: mask }];
}

/** A value of the caller's own never stands beside a file of the same name. */
function isOfFile(name: string): boolean {
  return /^(image|mask)(\[|$)/.test(name);
}

function outputsIn({ json, blobs }: JsonWithBlobs): Output[] {
  const entries = objectsAt(json, 'data');
  // Some servers put something else in the place of a picture that broke their rules.
  const allowed = entries.filter((entry) => entry.respect_moderation !== false);
  if (allowed.length === 0 && entries.length > 0) throw new UpstreamError('policy', 'every picture was withheld');
  const outputs = allowed.flatMap((entry) => outputOf(entry, blobs) ?? []);
  if (outputs.length === 0) throw new UpstreamError('garbled', 'an answer without pictures');
  return outputs;
}

/** The format's author counts tokens of pictures too. */
function usageIn(json: JsonObject): TaskUsage {
  const usage = objectAt(json, 'usage');
  return { inputTokens: countAt(usage, 'input_tokens'), outputTokens: countAt(usage, 'output_tokens') };
}

function outputOf(entry: JsonObject, blobs: readonly Buffer[]): Output | undefined {
  const [base64, url] = [entry.b64_json, stringAt(entry, 'url') ?? ''];
  const data = typeof base64 === 'number' ? blobs[base64] : Buffer.from(stringAt(entry, 'b64_json') ?? '', 'base64');
  if (data !== undefined && data.length > 0) return { data };
  return url === '' ? undefined : outputAt(url);
}

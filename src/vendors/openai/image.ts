import { UpstreamError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../limits.ts';
import type { ImageRequest } from '../../requests/index.ts';
import { readJsonWithBlobs } from '../kit/blobs.ts';
import { send, type Upstream, type UpstreamCall, type UpstreamReply } from '../kit/http.ts';
import { isObject, listAt, stringAt } from '../kit/json.ts';
import { type Part, toMultipart } from '../kit/multipart.ts';
import type { Media, Output, TaskWork } from '../vendor.ts';
import { faultOf, throwIfError } from './faults.ts';
import { toValues } from './form-values.ts';
import { headersOf } from './headers.ts';
import { checkFields, fieldsOf, sizeOf } from './image-fields.ts';
import { pixelsOf } from './image-size.ts';

const COUNT_MAX = 10;
/** A picture needs no more than four bytes for each of its pixels, and base64 a third more. */
const ANSWER_BYTES_PER_PIXEL_MAX = (4 * 4) / 3;

/** Pictures made while the upstream keeps the line open. There is no task, and so nothing to ask after or to find again. */
export const image: TaskWork<ImageRequest<Media>> = {
  check: checkFields,

  /** As many as the largest answer that is read has room for, whatever is in them. */
  perCall(request, upstreamModel) {
    const answerBytes = pixelsOf(sizeOf(request, upstreamModel)) * ANSWER_BYTES_PER_PIXEL_MAX;
    const fitting = Math.floor(UPSTREAM_PICTURES_BYTES_MAX / answerBytes);
    return Math.max(1, Math.min(request.n, COUNT_MAX, fitting));
  },

  async submit(request, { count }, upstream) {
    const reply = await send(upstream, toCall(request, count, upstream), { faultOf });
    return { state: 'succeeded', outputs: await outputsIn(reply) };
  },
};

function toCall(request: ImageRequest<Media>, count: number, upstream: Upstream): UpstreamCall {
  const fields = fieldsOf(request, count, upstream.model);
  const headers = headersOf(upstream, 'application/json');
  const files = filesOf(request);
  if (files.length === 0) {
    headers['content-type'] = 'application/json';
    return { method: 'POST', path: '/images/generations', headers, body: JSON.stringify(fields) };
  }
  const values = Object.entries(fields).flatMap(([name, value]) => toValues(name, value));
  const { contentType, body } = toMultipart([...values.filter(({ name }) => !isOfFile(name)), ...files]);
  headers['content-type'] = contentType;
  return { method: 'POST', path: '/images/edits', headers, body };
}

function filesOf({ referenceImages, mask }: ImageRequest<Media>): Part[] {
  const name = referenceImages.length === 1 ? 'image' : 'image[]';
  const images = referenceImages.map((file, at) => ({ name, fileName: `image-${at + 1}.${extensionOf(file)}`, file }));
  return mask === undefined ? images : [...images, { name: 'mask', fileName: `mask.${extensionOf(mask)}`, file: mask }];
}

/** Servers go by the ending of a file's name. */
function extensionOf({ mimeType }: Media): string {
  return mimeType === 'image/jpeg' ? 'jpg' : mimeType.slice(mimeType.indexOf('/') + 1);
}

/** A value of the caller's own never stands beside a file of the same name. */
function isOfFile(name: string): boolean {
  return /^(image|mask)(\[|$)/.test(name);
}

async function outputsIn(reply: UpstreamReply): Promise<Output[]> {
  const { json, blobs } = await readJsonWithBlobs(reply, 'b64_json', UPSTREAM_PICTURES_BYTES_MAX);
  throwIfError(json);
  const entries = listAt(json, 'data') ?? [];
  const allowed = entries.filter((entry) => !isWithheld(entry));
  if (allowed.length === 0 && entries.length > 0) throw new UpstreamError('policy', 'every picture was withheld');
  const outputs = allowed.flatMap((entry) => outputOf(entry, blobs) ?? []);
  if (outputs.length === 0) throw new UpstreamError('garbled', 'an answer without pictures');
  return outputs;
}

/** Some servers put something else in the place of a picture that broke their rules. */
function isWithheld(entry: JsonValue): boolean {
  return isObject(entry) && entry.respect_moderation === false;
}

function outputOf(entry: JsonValue, blobs: readonly Buffer[]): Output | undefined {
  if (!isObject(entry)) return undefined;
  const { b64_json: base64, url } = entry;
  const data = typeof base64 === 'number' ? blobs[base64] : fromBase64(stringAt(entry, 'b64_json') ?? '');
  if (data !== undefined && data.length > 0) return { data };
  if (typeof url !== 'string' || url === '') return undefined;
  return url.startsWith('data:') ? { data: fromBase64(url.slice(url.indexOf(',') + 1)) } : { url };
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}

import { type Fault, UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../limits.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { Base64Decoder, type BlobDecoder, type BlobDecoders, readJsonWith } from '../kit/blobs.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { listAt } from '../kit/json.ts';
import {
  autoOnly,
  between,
  type FieldMap,
  mapFields,
  oneOf,
  shapeAmong,
  textWithin,
  type WireFields,
} from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media, TaskWork } from '../vendor.ts';
import { pathOf } from './chat.ts';
import { wire } from './wire.ts';

type Request = ImageRequest<Media>;

const CHARS_MAX = 10_000;
const SHAPES = ['21:9', '16:9', '3:2', '5:4', '1:1', '4:5', '2:3', '9:16', '9:21'];

/** What Stability's models that draw from words take. The vendor takes 0 for a seed of its own choice. */
const TAKES: FieldMap<Request> = {
  prompt: textWithin('prompt', 1, CHARS_MAX),
  negativePrompt: textWithin('negative_prompt', 0, CHARS_MAX),
  size: autoOnly,
  aspectRatio: shapeAmong('aspect_ratio', SHAPES),
  outputFormat: oneOf('output_format', ['png', 'jpeg']),
  seed: between('seed', 1, 4_294_967_294),
};

/** What would make the picture out of another one. */
const RESERVED = ['image', 'mask', 'mode', 'strength'];

/** One picture for each call, made while the line is open. There is no task, and so nothing to ask after. */
export const image: TaskWork<Request> = {
  check(request) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request);
  },

  perCall: () => 1,

  async submit(request, _order, upstream) {
    const body = jsonWithMedia({ ...request.extra, ...fieldsOf(request) });
    const reply = await wire.send(upstream, { path: pathOf(upstream, 'invoke'), body });
    const answer = await readJsonWith(FIRST_OF_LIST, reply, 'images', UPSTREAM_PICTURES_BYTES_MAX);
    wire.faults.throwIfError(answer.json);
    throwIfFiltered(answer.json);
    const [data] = answer.blobs;
    if (data === undefined || data.length === 0) throw new UpstreamError('garbled', 'an answer without a picture');
    return { state: 'succeeded', outputs: [{ data }] };
  },
};

/** Throws ApiError for what the models cannot take. */
function fieldsOf(request: Request): WireFields {
  return mapFields(request, { takes: TAKES }, IMAGE_NAMES);
}

/** Why there is no picture stands in a list of its own, where null is none. */
function throwIfFiltered(answer: JsonObject): void {
  const [reason] = (listAt(answer, 'finish_reasons') ?? []).filter((each) => typeof each === 'string');
  if (reason === undefined || reason === 'SUCCESS') return;
  const fault: Fault = /inference error/i.test(String(reason)) ? 'server' : 'policy';
  throw new UpstreamError(fault, `it ended with ${String(reason)}`);
}

/** A list of base64 strings, of which the first is kept. */
class FirstInList implements BlobDecoder {
  readonly close = ']';
  readonly #first = new Base64Decoder();
  #isOver = false;

  push(text: string): void {
    if (this.#isOver) return;
    const [first = '', second] = text.split(',', 2);
    this.#first.push(first.replaceAll('"', ''));
    this.#isOver = second !== undefined;
  }

  end(): Buffer {
    return this.#first.end();
  }
}

const FIRST_OF_LIST: BlobDecoders = { '[': () => new FirstInList() };

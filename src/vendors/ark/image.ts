import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { outputAt } from '../kit/data-url.ts';
import { jsonWithMedia } from '../kit/inline-media.ts';
import { countAt, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { as, type FieldMap, firstMatch, implied, mapFields, oneOf, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseOutside } from '../kit/refusals.ts';
import { sized } from '../kit/size-field.ts';
import type { Media, Output, TaskWork } from '../vendor.ts';
import { wire } from './wire.ts';

type Request = ImageRequest<Media>;

const SEED_MAX = 2 ** 31 - 1;

const SIZES = { separator: 'x', shapeMax: 16, sideUsual: 2048, hasTierNames: true } as const;

const usual: FieldMap<Request> = { prompt: as('prompt'), watermark: as('watermark') };
const anyFormat: FieldMap<Request> = { outputFormat: oneOf('output_format', ['png', 'jpeg']) };
const jpegOnly: FieldMap<Request> = { outputFormat: implied('jpeg') };
const seeded: FieldMap<Request> = {
  seed: (seed, field) => {
    refuseOutside(field, seed, -1, SEED_MAX);
    return { seed };
  },
};

const SEEDREAM_4: FieldMap<Request> = {
  ...usual,
  ...jpegOnly,
  ...pictures(14),
  ...sized({ ...SIZES, tiers: ['1k', '2k', '4k'], pixelsMin: 1280 * 720, pixelsMax: 4096 * 4096 }),
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, FieldMap<Request>])[] = [
  [
    /seedream-5-0-pro/,
    {
      ...usual,
      ...anyFormat,
      ...pictures(10),
      ...sized({ ...SIZES, tiers: ['1k', '2k'], pixelsMin: 1024 * 1024, pixelsMax: 2048 * 2048 }),
    },
  ],
  [
    /seedream-5/,
    {
      ...usual,
      ...anyFormat,
      ...pictures(14),
      ...sized({ ...SIZES, tiers: ['2k', '3k'], pixelsMin: 2560 * 1440, pixelsMax: 3072 * 3072 }),
    },
  ],
  [
    /seedream-4-5/,
    { ...SEEDREAM_4, ...sized({ ...SIZES, tiers: ['2k', '4k'], pixelsMin: 2560 * 1440, pixelsMax: 4096 * 4096 }) },
  ],
  [
    /seedream-3/,
    {
      ...usual,
      ...jpegOnly,
      ...seeded,
      ...sized({ ...SIZES, tiers: ['1k', '2k'], pixelsMin: 512 * 512, pixelsMax: 2048 * 2048 }),
    },
  ],
];

/** What public fields decide, what would bring more pictures than are paid for, and an answer of another form. */
const RESERVED: readonly string[] = [
  ...['image', 'sequential_image_generation', 'sequential_image_generation_options'],
  ...['layer_decomposition', 'tools', 'stream'],
];

/** Pictures made while the vendor keeps the line open. There is no task, and so nothing to ask after or to find again. */
export const image: TaskWork<Request> = {
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, model);
  },

  perCall: () => 1,

  async submit(request, { id }, upstream) {
    const { model } = upstream;
    // The vendor marks its pictures unless told not to.
    const body = { ...request.extra, model, watermark: false, ...fieldsOf(request, model), response_format: 'url' };
    const answer = await wire.json(upstream, {
      path: '/images/generations',
      headers: { 'x-client-request-id': id },
      body: jsonWithMedia(body),
    });
    const usage = { outputTokens: countAt(objectAt(answer, 'usage'), 'output_tokens') };
    return { state: 'succeeded', outputs: outputsIn(answer), usage };
  },
};

/** Throws ApiError for what the model cannot take. One that is not known takes what the fourth generation takes. */
function fieldsOf(request: Request, model: string): WireFields {
  return mapFields(request, { takes: firstMatch(FAMILIES, model) ?? SEEDREAM_4 }, IMAGE_NAMES);
}

function pictures(most: number): FieldMap<Request> {
  return {
    referenceImages: (media, field) => {
      if (media.length > most) throw unsupported(field, { atMost: most });
      return { image: media };
    },
  };
}

/** The links live for a day and are fetched at once, without the key. A picture that was not made stands there as an error. */
function outputsIn(answer: JsonObject): Output[] {
  const entries = objectsAt(answer, 'data');
  const outputs = entries.flatMap((entry) => {
    const url = stringAt(entry, 'url') ?? '';
    return url === '' ? [] : [outputAt(url)];
  });
  if (outputs.length > 0) return outputs;
  const error = entries.map((entry) => objectAt(entry, 'error')).find((each) => each !== undefined);
  const reason = error ?? objectAt(answer, 'error');
  if (reason !== undefined) throw wire.faults.toError(reason);
  throw new UpstreamError('garbled', 'an answer without pictures');
}

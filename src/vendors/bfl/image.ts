import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { withoutAddress } from '../kit/inline-media.ts';
import {
  as,
  type FieldMap,
  firstMatch,
  type ModelFamily,
  mapFields,
  oneOf,
  single,
  type WireFields,
} from '../kit/mapping.ts';
import { byShape, inPixels } from '../kit/pixel-size.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import { refuseKeys } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { queued } from './queue.ts';

type Request = ImageRequest<Media>;

interface ImageFamily extends ModelFamily<Request> {
  /** Changes a picture, and makes none from words alone. */
  readonly needsPicture?: boolean;
  /** Sent where neither the request nor its unmodelled keys say otherwise. */
  readonly defaults?: WireFields;
}

const PICTURES_MAX = 8;
const PIXELS_OF_2K = 2048 * 2048;

const FLUX_2_SIZES = inPixels({
  step: 16,
  sideMin: 64,
  sideMax: PIXELS_OF_2K / 64,
  pixelsMax: PIXELS_OF_2K,
  tiers: { '1k': 1024, '2k': 2048 },
});
const FLUX_1_SIZES = inPixels({
  step: 32,
  sideMin: 256,
  sideMax: 1440,
  pixelsMax: 1440 * 1440,
  tiers: { '1k': 1024 },
});

const usual: FieldMap<Request> = {
  prompt: as('prompt'),
  seed: as('seed'),
  outputFormat: oneOf('output_format', ['jpeg', 'png']),
};
const pictures: FieldMap<Request> = { referenceImages: numberedFields };
const imagePrompt: FieldMap<Request> = { referenceImages: single('image_prompt') };
/** These fields take bytes only. */
const pictureField: FieldMap<Request> = {
  referenceImages: (media, field) => single('image')(media.map(withoutAddress), field),
};
const maskField: FieldMap<Request> = { mask: (mask) => ({ mask: withoutAddress(mask) }) };

const FLUX_2: ImageFamily = { takes: { ...usual, ...pictures, ...FLUX_2_SIZES } };

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  // Unverified: its own default rewrites the prompt before it draws.
  [/^flux-2-flex/, { ...FLUX_2, defaults: { prompt_upsampling: false } }],
  [/^flux-kontext/, { takes: { ...usual, ...pictures, ...byShape } }],
  [/^flux-pro-1\.1-ultra/, { takes: { ...usual, ...imagePrompt, ...byShape } }],
  [/^flux-pro-1\.0-fill/, { takes: { ...usual, ...pictureField, ...maskField }, needsPicture: true }],
  [/^flux-pro-1\.0-expand/, { takes: { ...usual, ...pictureField }, needsPicture: true }],
  // It takes no prompt, which every request has.
  [/^flux-tools\/erase/, { takes: {} }],
  [/^flux-(pro|dev)/, { takes: { ...usual, ...imagePrompt, ...FLUX_1_SIZES } }],
];

/** What public fields decide, and what would take the result elsewhere. */
const RESERVED: readonly string[] = [
  ...['width', 'height', 'image', 'image_prompt', 'webhook_url', 'webhook_secret'],
  ...Array.from({ length: 10 }, (_, place) => nameAt(place)),
];

export const image = queued<Request>({
  check(request, model) {
    refuseKeys(request.extra, RESERVED);
    fieldsOf(request, model);
  },
  fieldsOf: (request, model) => ({ ...familyOf(model).defaults, ...request.extra, ...fieldsOf(request, model) }),
});

/** A model that is not known takes what the latest ones take. */
function familyOf(model: string): ImageFamily {
  return firstMatch(FAMILIES, model) ?? FLUX_2;
}

/** Throws ApiError for what the model cannot take. */
function fieldsOf(request: Request, model: string): WireFields {
  const family = familyOf(model);
  const fields = mapFields(request, family, IMAGE_NAMES);
  if (family.needsPicture === true && request.referenceImages.length === 0) {
    throw unsupported('reference_images', { atLeast: 1 });
  }
  return fields;
}

/** `input_image`, `input_image_2` and so on. */
function numberedFields(media: readonly Media[], field: string): WireFields {
  if (media.length > PICTURES_MAX) throw unsupported(field, { atMost: PICTURES_MAX });
  return Object.fromEntries(media.map((picture, place) => [nameAt(place), picture]));
}

function nameAt(place: number): string {
  return place === 0 ? 'input_image' : `input_image_${place + 1}`;
}

import type { ImageRequest } from '../../schemas/index.ts';
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
import { IMAGE_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { ownSize, sized } from './image-size.ts';
import { queued } from './queue.ts';

type Request = ImageRequest<Media>;

interface ImageFamily extends ModelFamily<Request> {
  /** Cannot be asked for several pictures at once. */
  readonly isSingle?: boolean;
}

const prompted: FieldMap<Request> = { prompt: as('prompt') };
const seeded: FieldMap<Request> = { ...prompted, seed: as('seed') };
const anyFormat: FieldMap<Request> = { outputFormat: as('output_format') };
const jpegOrPng: FieldMap<Request> = { outputFormat: oneOf('output_format', ['jpeg', 'png']) };
const byRatio: FieldMap<Request> = { aspectRatio: as('aspect_ratio') };
const byTier: FieldMap<Request> = { resolution: (tier) => ({ resolution: tier.toUpperCase() }) };
const bySize = sized(1024);
const styled: FieldMap<Request> = { style: as('style') };
const drawn: FieldMap<Request> = { quality: as('quality'), background: as('background') };
const negative: FieldMap<Request> = { negativePrompt: as('negative_prompt') };
/** Otherwise each picture may become as many as the caller likes. */
const ONE_EACH: WireFields = { max_images: 1 };
const several: FieldMap<Request> = { referenceImages: as('image_urls') };

/** The first that fits the name counts. What a model takes beside its prompt differs even within a family. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^fal-ai\/(flux-2|z-image)(\/|$)/, { takes: { ...seeded, ...bySize, ...anyFormat } }],
  [/^fal-ai\/flux-2-/, { takes: { ...seeded, ...bySize, ...jpegOrPng }, isSingle: true }],
  [/^fal-ai\/flux-pro\/(kontext|v1\.1-ultra)/, { takes: { ...seeded, ...byRatio, ...jpegOrPng } }],
  [/^fal-ai\/flux(-pro\/v1\/fill|(-1)?\/.*image-to-image|-kontext\b)/, { takes: { ...seeded, ...jpegOrPng } }],
  [/^fal-ai\/flux/, { takes: { ...seeded, ...bySize, ...jpegOrPng } }],
  [/\/seedream\/v3\//, { takes: { ...seeded, ...bySize } }],
  [/\/seedream\/v5\//, { takes: { ...prompted, ...sized(2048, 'auto_') }, always: ONE_EACH }],
  [/\/seedream\//, { takes: { ...seeded, ...sized(2048, 'auto_') }, always: ONE_EACH }],
  [/^fal-ai\/(nano-banana-|imagen4(?!.*fast))/, { takes: { ...seeded, ...byRatio, ...byTier, ...anyFormat } }],
  [/^fal-ai\/(nano-banana|imagen4)/, { takes: { ...seeded, ...byRatio, ...anyFormat } }],
  [/\/gpt-image-/, { takes: { ...prompted, ...anyFormat, ...drawn, size: as('image_size') } }],
  [/^fal-ai\/recraft\/v4/, { takes: { ...prompted, ...bySize }, isSingle: true }],
  [/^fal-ai\/recraft\/.*image-to-image/, { takes: { ...prompted, ...styled, ...negative }, isSingle: true }],
  [/^fal-ai\/recraft/, { takes: { ...prompted, ...bySize, ...styled }, isSingle: true }],
  [/^fal-ai\/ideogram\/v3\/edit/, { takes: seeded }],
  [/^fal-ai\/ideogram/, { takes: { ...seeded, ...bySize, ...negative, ...styled } }],
  [/^fal-ai\/(qwen-image|hidream-i1|hunyuan-image)/, { takes: { ...seeded, ...bySize, ...anyFormat, ...negative } }],
];

/** Of a model that is not known, all is asked for under the usual names. */
const USUAL: ImageFamily = {
  takes: {
    ...seeded,
    ...byRatio,
    ...byTier,
    ...anyFormat,
    ...negative,
    ...styled,
    ...drawn,
    size: ownSize,
  },
};

/** Which pictures an endpoint takes is told by the end of its name. */
const ENDPOINTS: readonly (readonly [RegExp, FieldMap<Request>])[] = [
  [/gpt-image-1(-mini)?\/edit/, several],
  [/gpt-image-.*edit/, { ...several, mask: as('mask_image_url') }],
  [/z-image.*inpaint/, { referenceImages: single('image_url'), mask: as('mask_image_url') }],
  [/fill|inpaint|ideogram\/v3\/edit/, { referenceImages: single('image_url'), mask: as('mask_url') }],
  [/text-to-image/, {}],
  [/\/edit|edit-image|\/multi$|kling-image\/o/, several],
  [/image-to-image|redux|kontext|canny|depth|v1\.1-ultra|subject-reference/, { referenceImages: single('image_url') }],
];

const ANY_PICTURES: FieldMap<Request> = {
  referenceImages: (pictures) => (pictures.length === 1 ? single('image_url')(pictures, '') : { image_urls: pictures }),
  mask: as('mask_url'),
};

export const image = queued<Request>({
  kind: 'image',
  priced: ['image_size', 'num_images', 'max_images'],
  inputOf: (request, model) => mapFields(request, familyOf(model), IMAGE_NAMES),
  countOf: (model) => (familyOf(model).isSingle === true ? undefined : { field: 'num_images', max: 4 }),
});

function familyOf(model: string): ImageFamily {
  const known = firstMatch(FAMILIES, model);
  const pictures = firstMatch(ENDPOINTS, model) ?? (known === undefined ? ANY_PICTURES : {});
  const family = known ?? USUAL;
  return { ...family, takes: { ...pictures, ...family.takes } };
}

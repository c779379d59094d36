import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { as, type FieldMap, firstMatch, several, single, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { customTier, formats, inCustomPixels, ratios, tiers } from './image-fields.ts';
import { type Family, predictions } from './predictions.ts';

type Request = ImageRequest<Media>;

interface ImageFamily extends Family<Request> {
  /** Changes a picture, and makes none from words alone. */
  readonly needsPicture?: boolean;
}

const prompted: FieldMap<Request> = { prompt: as('prompt') };
const seeded: FieldMap<Request> = { ...prompted, seed: as('seed') };
const anyFormat = formats('webp', 'jpg', 'png');
const jpegOrPng = formats('jpg', 'png');
const from = (name: string): FieldMap<Request> => ({ referenceImages: single(name) });
const pictures = (name: string, most: number): FieldMap<Request> => ({ referenceImages: several(name, most) });
const masked: FieldMap<Request> = { mask: as('mask') };

const FLUX_RATIOS = ratios('1:1 16:9 21:9 3:2 2:3 4:5 5:4 3:4 4:3 9:16 9:21');
const KONTEXT_RATIOS = ratios('1:1 16:9 9:16 4:3 3:4 3:2 2:3 4:5 5:4 21:9 9:21 2:1 1:2');
const BANANA_RATIOS = ratios('1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9');
const BANANA_2_RATIOS = ratios('1:1 1:4 1:8 2:3 3:2 3:4 4:1 4:3 4:5 5:4 8:1 9:16 16:9 21:9');
const BANANA_TIERS = tiers('resolution', { '1k': '1K', '2k': '2K', '4k': '4K' });
const SEEDREAM_SIZES: FieldMap<Request> = {
  ...ratios('1:1 4:3 3:4 16:9 9:16 3:2 2:3 21:9'),
  ...tiers('size', { '1k': '1K', '2k': '2K', '4k': '4K' }),
  ...customTier(1024, 4096),
};
const IMAGEN_RATIOS = ratios('1:1 9:16 16:9 3:4 4:3');
const ONE_MEGAPIXEL = tiers('megapixels', { '1k': '1' });
const FLUX_1_SIZES = inCustomPixels(1440, { '1k': 1024 });
const FLUX_2_SIZES = inCustomPixels(2048, { '1k': 1024, '2k': 2048 });

const FLUX_2: ImageFamily = { takes: { ...seeded, ...FLUX_2_SIZES, ...anyFormat, ...pictures('input_images', 8) } };
const FLUX_1: FieldMap<Request> = { ...seeded, ...FLUX_RATIOS, ...ONE_MEGAPIXEL, ...anyFormat };
const BANANA: FieldMap<Request> = { ...prompted, ...BANANA_RATIOS, ...jpegOrPng, ...pictures('image_input', 14) };
const IMAGEN: FieldMap<Request> = { ...prompted, ...IMAGEN_RATIOS, ...jpegOrPng };
const FILL: FieldMap<Request> = { ...seeded, ...from('image'), ...masked };

/** The first that fits the name counts. What a model takes beside its prompt differs even within a family. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  // It rewrites prompts unless told not to.
  [/\/flux-2-flex/, { ...FLUX_2, defaults: { prompt_upsampling: false } }],
  [/\/flux-2-dev/, { takes: { ...seeded, ...FLUX_1_SIZES, ...anyFormat, ...pictures('input_images', 4) } }],
  [/\/flux-2-/, FLUX_2],
  [/\/flux-kontext-(pro|max)/, { takes: { ...seeded, ...KONTEXT_RATIOS, ...jpegOrPng, ...from('input_image') } }],
  [/\/flux-1\.1-pro-ultra/, { takes: { ...seeded, ...FLUX_RATIOS, ...jpegOrPng, ...from('image_prompt') } }],
  [/\/flux-1\.1-pro/, { takes: { ...seeded, ...FLUX_1_SIZES, ...anyFormat, ...from('image_prompt') } }],
  [/\/flux-fill-pro/, { takes: { ...FILL, ...jpegOrPng }, needsPicture: true }],
  [/\/flux-fill-dev/, { takes: { ...FILL, ...ONE_MEGAPIXEL, ...anyFormat }, needsPicture: true, countMax: 4 }],
  [/\/flux-dev/, { takes: { ...FLUX_1, ...from('image') }, countMax: 4 }],
  [/\/flux-schnell/, { takes: FLUX_1, countMax: 4 }],
  [/\/nano-banana-2/, { takes: { ...BANANA, ...BANANA_2_RATIOS, ...BANANA_TIERS } }],
  [/\/nano-banana-pro/, { takes: { ...BANANA, ...BANANA_TIERS } }],
  [/\/nano-banana/, { takes: BANANA }],
  [/\/imagen-4-fast/, { takes: IMAGEN }],
  [/\/imagen-4/, { takes: { ...IMAGEN, ...tiers('image_size', { '1k': '1K', '2k': '2K' }) } }],
  [
    /\/seedream-4/,
    {
      takes: { ...prompted, ...SEEDREAM_SIZES, ...pictures('image_input', 10) },
      // One picture for each that is counted, and the words as they are.
      always: { sequential_image_generation: 'disabled' },
      defaults: { enhance_prompt: false },
    },
  ],
];

/** Of a model that is not known, all is asked for under the names that the vendor's models mostly have. */
const USUAL: ImageFamily = {
  isGuess: true,
  takes: {
    ...seeded,
    ...anyFormat,
    ...from('image'),
    ...masked,
    aspectRatio: as('aspect_ratio'),
    negativePrompt: as('negative_prompt'),
    resolution: as('resolution'),
    size: (size, _field, { resolution }): WireFields => {
      // A tier has its price, and a size of the caller's own would get around it.
      if (resolution !== undefined && size !== 'auto') throw unsupported('resolution', { notWith: 'size' });
      return size === 'auto' ? {} : { size };
    },
  },
};

export const image = predictions<Request>({
  kind: 'image',
  names: IMAGE_NAMES,
  familyOf,
  reserved: [
    ...['width', 'height', 'megapixels', 'image_size', 'max_images', 'sequential_image_generation'],
    ...['image', 'images', 'input_image', 'input_images', 'image_input', 'image_prompt', 'mask_image'],
  ],
  require: ({ referenceImages }, model) => {
    const isMissing = familyOf(model).needsPicture === true && referenceImages.length === 0;
    if (isMissing) throw unsupported('reference_images', { atLeast: 1 });
  },
});

function familyOf(model: string): ImageFamily {
  return firstMatch(FAMILIES, model) ?? USUAL;
}

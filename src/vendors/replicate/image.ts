import type { ImageRequest } from '../../schemas/index.ts';
import { as, type FieldMap, several, shapeAmong, single, type WireFields, wordFor } from '../kit/mapping.ts';
import { exactSize, inPixels, type SizeRules } from '../kit/pixel-size.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { type Families, predictions } from './predictions.ts';

type Request = ImageRequest<Media>;
type Fields = FieldMap<Request>;

const prompted: Fields = { prompt: as('prompt') };
const seeded: Fields = { ...prompted, seed: as('seed') };
/** The vendor writes JPEG in three letters. */
const anyFormat: Fields = { outputFormat: wordFor('output_format', { webp: 'webp', jpeg: 'jpg', png: 'png' }) };
const jpegOrPng: Fields = { outputFormat: wordFor('output_format', { jpeg: 'jpg', png: 'png' }) };
const from = (name: string): Fields => ({ referenceImages: single(name) });
const pictures = (name: string, most: number): Fields => ({ referenceImages: several(name, most) });
const ratios = (words: string): Fields => ({ aspectRatio: shapeAmong('aspect_ratio', words.split(' ')) });
const tiers = (name: string, words: Readonly<Record<string, string>>): Fields => ({ resolution: wordFor(name, words) });
const masked: Fields = { mask: as('mask') };

const FLUX_RATIOS = ratios('1:1 16:9 21:9 3:2 2:3 4:5 5:4 3:4 4:3 9:16 9:21');
const KONTEXT_RATIOS = ratios('1:1 16:9 9:16 4:3 3:4 3:2 2:3 4:5 5:4 21:9 9:21 2:1 1:2');
const BANANA_RATIOS = ratios('1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9');
const BANANA_2_RATIOS = ratios('1:1 1:4 1:8 2:3 3:2 3:4 4:1 4:3 4:5 5:4 8:1 9:16 16:9 21:9');
const BANANA_TIERS = tiers('resolution', { '1k': '1K', '2k': '2K', '4k': '4K' });
const SEEDREAM_SIZES: Fields = {
  ...ratios('1:1 4:3 3:4 16:9 9:16 3:2 2:3 21:9'),
  ...tiers('size', { '1k': '1K', '2k': '2K', '4k': '4K' }),
  size: inPixels({ ...square(4096), step: 1, sideMin: 1024, tiers: {} }, { size: 'custom' }).size,
};
const IMAGEN_RATIOS = ratios('1:1 9:16 16:9 3:4 4:3');
const ONE_MEGAPIXEL = tiers('megapixels', { '1k': '1' });
const FLUX_STEPS = { step: 32, sideMin: 256 };
const CUSTOM: WireFields = { aspect_ratio: 'custom' };
const FLUX_1_SIZES = inPixels({ ...square(1440), ...FLUX_STEPS, tiers: { '1k': 1024 } }, CUSTOM);
const FLUX_2_SIZES = inPixels({ ...square(2048), ...FLUX_STEPS, tiers: { '1k': 1024, '2k': 2048 } }, CUSTOM);

const FLUX_2: Fields = { ...seeded, ...FLUX_2_SIZES, ...anyFormat, ...pictures('input_images', 8) };
const FLUX_1: Fields = { ...seeded, ...FLUX_RATIOS, ...ONE_MEGAPIXEL, ...anyFormat };
const BANANA: Fields = { ...prompted, ...BANANA_RATIOS, ...jpegOrPng, ...pictures('image_input', 14) };
const IMAGEN: Fields = { ...prompted, ...IMAGEN_RATIOS, ...jpegOrPng };
const FILL: Fields = { ...seeded, ...from('image'), ...masked };
/** Changes a picture, and makes none from words alone. */
const FILLING = { needs: { image: 'reference_images' } };

/** What a model takes beside its prompt differs even within a family. */
const FAMILIES: Families<Request> = [
  // It rewrites prompts unless told not to.
  [/\/flux-2-flex/, { takes: FLUX_2, defaults: { prompt_upsampling: false } }],
  [/\/flux-2-dev/, { takes: { ...seeded, ...FLUX_1_SIZES, ...anyFormat, ...pictures('input_images', 4) } }],
  [/\/flux-2-/, { takes: FLUX_2 }],
  [/\/flux-kontext-(pro|max)/, { takes: { ...seeded, ...KONTEXT_RATIOS, ...jpegOrPng, ...from('input_image') } }],
  [/\/flux-1\.1-pro-ultra/, { takes: { ...seeded, ...FLUX_RATIOS, ...jpegOrPng, ...from('image_prompt') } }],
  [/\/flux-1\.1-pro/, { takes: { ...seeded, ...FLUX_1_SIZES, ...anyFormat, ...from('image_prompt') } }],
  [/\/flux-fill-pro/, { takes: { ...FILL, ...jpegOrPng }, ...FILLING }],
  [/\/flux-fill-dev/, { takes: { ...FILL, ...ONE_MEGAPIXEL, ...anyFormat }, ...FILLING, countMax: 4 }],
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

const USUAL: Fields = {
  ...seeded,
  ...anyFormat,
  ...from('image'),
  ...masked,
  aspectRatio: as('aspect_ratio'),
  negativePrompt: as('negative_prompt'),
  resolution: as('resolution'),
  size: exactSize(as('size')),
};

export const image = predictions<Request>({
  kind: 'image',
  names: IMAGE_NAMES,
  families: FAMILIES,
  usual: USUAL,
  reserved: [
    ...['width', 'height', 'megapixels', 'image_size', 'max_images', 'sequential_image_generation'],
    ...['image', 'images', 'input_image', 'input_images', 'image_input', 'image_prompt', 'mask_image'],
  ],
});

function square(sideMax: number): Pick<SizeRules, 'sideMax' | 'pixelsMax'> {
  return { sideMax, pixelsMax: sideMax * sideMax };
}

import type { ImageRequest } from '../../schemas/index.ts';
import { type FieldMap, firstMatch, isAutomatic, type WireFields, wordFor } from '../kit/mapping.ts';
import { sized } from '../kit/size-field.ts';
import type { Media } from '../vendor.ts';
import { GENERATION } from './wire.ts';

/** Models that are called in the same way and take the same. */
export interface ImageFamily {
  readonly path: string;
  /** Whether words and pictures are one message, or fields. */
  readonly hasMessages: boolean;
  /** How many pictures one call makes. */
  readonly countMax: number;
  /** How many pictures it takes to go by; an edit cannot do without. */
  readonly pictures: readonly [min: number, max: number];
  readonly sizes: FieldMap<ImageRequest<Media>>;
  readonly hasNegativePrompt: boolean;
  /** Against surprising defaults, unless an unmodelled key says otherwise. */
  readonly defaults: WireFields;
}

const SERVICES = '/api/v1/services/aigc';

/** The vendor rewrites prompts unless told not to. */
const USUAL = { hasNegativePrompt: true, defaults: { prompt_extend: false, watermark: false } } as const;
const FIELDS = { ...USUAL, path: `${SERVICES}/text2image/image-synthesis`, hasMessages: false, countMax: 4 };
const TASK = { ...USUAL, path: `${SERVICES}/image-generation/generation`, hasMessages: true, countMax: 4 };
/** Made while the line is open: there is no task, and so nothing to ask after. */
const LINE = { ...USUAL, path: GENERATION, hasMessages: true, countMax: 1 };

const SIZES = { separator: '*', tiers: [], hasTierNames: false } as const;
const SIZES_1024 = { ...SIZES, sideUsual: 1024, pixelsMin: 512 ** 2, pixelsMax: 1440 ** 2, shapeMax: 1440 / 512 };
const SIZES_1280 = { ...SIZES, sideUsual: 1280, pixelsMin: 768 ** 2, pixelsMax: 1440 ** 2, shapeMax: 4 };
const SIZES_2048 = {
  ...SIZES,
  sideUsual: 2048,
  pixelsMin: 512 ** 2,
  pixelsMax: 2048 ** 2,
  shapeMax: 8,
  tiers: ['1k', '2k'],
};
const NAMED_TIERS = { ...SIZES_2048, pixelsMin: 768 ** 2, hasTierNames: true };
const SHAPES = { '16:9': '1664*928', '4:3': '1472*1104', '1:1': '1328*1328', '3:4': '1104*1472', '9:16': '928*1664' };

const WAN_2_7: ImageFamily = {
  ...TASK,
  pictures: [0, 9],
  sizes: sized(NAMED_TIERS),
  hasNegativePrompt: false,
  defaults: { watermark: false, enable_sequential: false },
};
const WAN_2_6_IMAGE: ImageFamily = {
  ...TASK,
  pictures: [1, 4],
  sizes: sized({ ...NAMED_TIERS, sideUsual: 1024, shapeMax: 4 }),
  defaults: { ...USUAL.defaults, enable_interleave: false },
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^qwen-image(-(plus|max)(-[\d-]+)?)?$/, { ...LINE, pictures: [0, 0], sizes: fixedSizes(SHAPES) }],
  [/^qwen-image-edit$/, { ...LINE, pictures: [1, 3], sizes: {} }],
  [/^qwen-image-edit/, { ...LINE, countMax: 6, pictures: [1, 3], sizes: sized({ ...SIZES_2048, sideUsual: 1024 }) }],
  [/^qwen-image-2\.0/, { ...LINE, countMax: 6, pictures: [0, 3], sizes: sized(SIZES_2048) }],
  [/^qwen-image/, { ...LINE, pictures: [0, 10], sizes: sized(SIZES_2048) }],
  [/^wanx?2\.[0-4]-t2i/, { ...FIELDS, pictures: [0, 0], sizes: sized({ ...SIZES_1024, tiers: ['1k'] }) }],
  [
    /^wan2\.5-i2i/,
    {
      ...FIELDS,
      path: `${SERVICES}/image2image/image-synthesis`,
      pictures: [1, 3],
      sizes: sized({ ...SIZES_1280, pixelsMax: 1280 ** 2 }),
    },
  ],
  [/^wan2\.5-t2i/, { ...FIELDS, pictures: [0, 0], sizes: sized(SIZES_1280) }],
  [/^wan2\.6-t2i/, { ...TASK, pictures: [0, 0], sizes: sized(SIZES_1280) }],
  [/^wan2\.6-image/, WAN_2_6_IMAGE],
  [
    /^wan2\.7-image-pro/,
    { ...WAN_2_7, sizes: sized({ ...NAMED_TIERS, pixelsMax: 4096 ** 2, tiers: ['1k', '2k', '4k'] }) },
  ],
];

/** A model that is not known takes what the latest ones take. */
export function imageFamily(model: string): ImageFamily {
  return firstMatch(FAMILIES, model) ?? WAN_2_7;
}

/** For models that make but a few sizes, one of each shape. */
function fixedSizes(sizes: Readonly<Record<string, string>>): FieldMap<ImageRequest<Media>> {
  const ofSize = wordFor(
    'size',
    Object.fromEntries(Object.values(sizes).map((size) => [size.replace('*', 'x'), size])),
  );
  const ofShape = wordFor('size', sizes);
  return {
    size: (size, field) => (isAutomatic(size) ? {} : ofSize(size, field)),
    aspectRatio: (ratio, field, { size }) => (isAutomatic(ratio) || !isAutomatic(size) ? {} : ofShape(ratio, field)),
  };
}

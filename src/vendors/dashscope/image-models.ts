import type { ImageRequest } from '../../schemas/index.ts';
import { type FieldMap, firstMatch, type WireFields } from '../kit/mapping.ts';
import type { Media } from '../vendor.ts';
import { fixedSizes, sized } from './image-size.ts';
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

const SHAPES = { '16:9': '1664*928', '4:3': '1472*1104', '1:1': '1328*1328', '3:4': '1104*1472', '9:16': '928*1664' };
const QWEN = { pixels: [512 ** 2, 2048 ** 2], shapeMax: 8, tiers: { '1k': 1024, '2k': 2048 } } as const;
const TWO_TIERS = { pixels: [768 ** 2, 2048 ** 2], tiers: { '1k': 1024, '2k': 2048 }, hasTierWords: true } as const;
const FOUR_TIERS = {
  pixels: [768 ** 2, 4096 ** 2],
  tiers: { ...TWO_TIERS.tiers, '4k': 4096 },
  hasTierWords: true,
} as const;
const SIZES_1280 = sized({ usual: 1280, pixels: [768 ** 2, 1440 ** 2], shapeMax: 4 });
const SIZES_1024 = sized({ usual: 1024, pixels: [512 ** 2, 1440 ** 2], shapeMax: 1440 / 512, tiers: { '1k': 1024 } });
const SIZES_OF_EDIT = sized({ usual: 1280, pixels: [768 ** 2, 1280 ** 2], shapeMax: 4 });

const WAN_2_7: ImageFamily = {
  ...TASK,
  pictures: [0, 9],
  sizes: sized({ ...TWO_TIERS, usual: 2048, shapeMax: 8 }),
  hasNegativePrompt: false,
  defaults: { watermark: false, enable_sequential: false },
};
const WAN_2_6_IMAGE: ImageFamily = {
  ...TASK,
  pictures: [1, 4],
  sizes: sized({ ...TWO_TIERS, usual: 1024, shapeMax: 4 }),
  defaults: { ...USUAL.defaults, enable_interleave: false },
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^qwen-image(-(plus|max)(-[\d-]+)?)?$/, { ...LINE, pictures: [0, 0], sizes: fixedSizes(SHAPES) }],
  [/^qwen-image-edit$/, { ...LINE, pictures: [1, 3], sizes: {} }],
  [/^qwen-image-edit/, { ...LINE, countMax: 6, pictures: [1, 3], sizes: sized({ ...QWEN, usual: 1024 }) }],
  [/^qwen-image-2\.0/, { ...LINE, countMax: 6, pictures: [0, 3], sizes: sized({ ...QWEN, usual: 2048 }) }],
  [/^qwen-image/, { ...LINE, pictures: [0, 10], sizes: sized({ ...QWEN, usual: 2048 }) }],
  [/^wanx?2\.[0-4]-t2i/, { ...FIELDS, pictures: [0, 0], sizes: SIZES_1024 }],
  [
    /^wan2\.5-i2i/,
    { ...FIELDS, path: `${SERVICES}/image2image/image-synthesis`, pictures: [1, 3], sizes: SIZES_OF_EDIT },
  ],
  [/^wan2\.5-t2i/, { ...FIELDS, pictures: [0, 0], sizes: SIZES_1280 }],
  [/^wan2\.6-t2i/, { ...TASK, pictures: [0, 0], sizes: SIZES_1280 }],
  [/^wan2\.6-image/, WAN_2_6_IMAGE],
  [/^wan2\.7-image-pro/, { ...WAN_2_7, sizes: sized({ ...FOUR_TIERS, usual: 2048, shapeMax: 8 }) }],
];

/** A model that is not known takes what the latest ones take. */
export function imageFamily(model: string): ImageFamily {
  return firstMatch(FAMILIES, model) ?? WAN_2_7;
}

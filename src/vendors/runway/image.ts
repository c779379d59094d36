import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { type FieldMap, firstMatch, type ModelFamily, mapFields, oneOf, type WireFields } from '../kit/mapping.ts';
import { IMAGE_NAMES } from '../kit/public-names.ts';
import type { Media } from '../vendor.ts';
import { promptOf, seedOf, urisOf } from './inputs.ts';
import { inPixels, type ShapeRule } from './shapes.ts';
import { type Creation, taskWork } from './tasks.ts';

type Request = ImageRequest<Media>;

interface ImageFamily extends ModelFamily<Request> {
  readonly shape: ShapeRule;
  readonly promptMax?: number;
  /** How many pictures it goes by. */
  readonly references: { readonly min?: number; readonly max: number };
  /** How many it makes in one task; others have one each. */
  readonly count?: number;
}

const none = (): WireFields => ({});
/** Sent in a shape of their own. */
const usual: FieldMap<Request> = {
  prompt: none,
  size: none,
  resolution: none,
  aspectRatio: none,
  referenceImages: none,
};
const jpegOrPng: FieldMap<Request> = { outputFormat: oneOf('outputFormat', ['png', 'jpeg']) };
/** The vendor's own default may be several, or cost more than was asked for. */
const ONE: WireFields = { outputCount: 1 };
const MEDIUM: WireFields = { quality: 'medium' };

/** The vendor has three groups by their lines; what is of about one megapixel is a tier of its own. */
const GEN4: ImageFamily = {
  takes: { ...usual, seed: seedOf },
  shape: inPixels({
    '1k': ['1024:1024', '1360:768', '1168:880'],
    '720p': ['1280:720', '720:1280', '720:720', '960:720', '720:960', '1680:720'],
    '1080p': ['1920:1080', '1080:1920', '1080:1080', '1440:1080', '1080:1440', '2112:912', '1808:768'],
  }),
  promptMax: 1000,
  references: { max: 3 },
};

const GPT: ImageFamily = {
  takes: {
    ...usual,
    ...qualities(['low', 'medium', 'high', 'xhigh', 'max']),
    background: oneOf('background', ['transparent', 'opaque', 'auto']),
  },
  always: MEDIUM,
  shape: inPixels({
    '2k': [
      ...['1920:1920', '2048:880', '1920:1088', '1920:1280', '1920:1440', '1920:1536'],
      ...['1536:1920', '1440:1920', '1280:1920', '1088:1920'],
    ],
    '3k': [
      ...['2560:2560', '2912:1248', '2560:1440', '2560:1712', '2560:1920', '2560:2048'],
      ...['2048:2560', '1920:2560', '1712:2560', '1440:2560'],
    ],
    '4k': [
      ...['2880:2880', '3840:1648', '3840:2160', '3504:2336', '3264:2448', '3200:2560'],
      ...['2560:3200', '2448:3264', '2336:3504', '2160:3840'],
    ],
  }),
  promptMax: 32_000,
  references: { max: 16 },
  count: 10,
};

const GEMINI_1K = ['1024:1024', '1344:768', '768:1344', '1184:864', '864:1184', '1536:672', '832:1248', '1248:832'];
const GEMINI_TIERS = {
  '1k': [...GEMINI_1K, '896:1152', '1152:896'],
  '2k': [
    ...['2048:2048', '1696:2528', '2528:1696', '1792:2400', '2400:1792', '1856:2304', '2304:1856'],
    ...['1536:2752', '2752:1536', '3168:1344'],
  ],
  '4k': [
    ...['4096:4096', '3392:5056', '5056:3392', '3584:4800', '4800:3584', '3712:4608', '4608:3712'],
    ...['3072:5504', '5504:3072', '6336:2688'],
  ],
};
const GEMINI: ImageFamily = {
  takes: usual,
  always: ONE,
  shape: inPixels(GEMINI_TIERS),
  references: { max: 14 },
};

const SEEDREAM: ImageFamily = {
  takes: { ...usual, ...jpegOrPng },
  always: ONE,
  shape: inPixels({
    '1k': ['1024:1024', '1184:896', '896:1184', '1376:768', '768:1376', '1296:864', '864:1296'],
    '2k': ['2048:2048', '2304:1728', '1728:2304', '2720:1530', '1530:2720', '2496:1664', '1664:2496'],
  }),
  promptMax: 4000,
  references: { max: 10 },
};

/** The first that fits the name counts. */
const FAMILIES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^gen4_image_turbo/, { ...GEN4, references: { min: 1, max: 3 } }],
  [/^gpt_image_2$/, { ...GPT, takes: { ...GPT.takes, ...qualities(['low', 'medium', 'high', 'auto']) } }],
  [/^gpt_image_.*flare/, { ...GPT, takes: { ...GPT.takes, background: oneOf('background', ['opaque', 'auto']) } }],
  [/^gpt_image_/, GPT],
  [
    /^gemini_2\.5/,
    { takes: usual, shape: inPixels({ '1k': [...GEMINI_1K, '896:1152', '1152:896'] }), references: { max: 3 } },
  ],
  [/^gemini_/, GEMINI],
  [
    /^seedream.*lite/,
    {
      ...SEEDREAM,
      shape: inPixels({
        '2k': [
          ...['2048:2048', '2304:1728', '1728:2304', '2848:1600', '1600:2848'],
          ...['2496:1664', '1664:2496', '3136:1344'],
        ],
        '3k': [
          ...['3072:3072', '3456:2592', '2592:3456', '4096:2304', '2304:4096'],
          ...['3744:2496', '2496:3744', '4704:2016'],
        ],
      }),
    },
  ],
  [/^seedream/, SEEDREAM],
];

export const image = taskWork<Request>({
  reserved: ['promptText', 'ratio', 'outputCount', 'referenceImages', 'outputFormat'],
  creationOf,
  countOf: (model) => familyOf(model).count,
});

/** A model that is not known takes what the vendor's own take. */
function familyOf(model: string): ImageFamily {
  return firstMatch(FAMILIES, model) ?? GEN4;
}

function creationOf(request: Request, model: string): Creation {
  const family = familyOf(model);
  const fields = mapFields(request, family, IMAGE_NAMES);
  const { min = 0, max } = family.references;
  const pictures = urisOf(request.referenceImages, 'reference_images', max);
  if (pictures.length < min) throw unsupported('reference_images', { atLeast: min });
  return {
    path: '/v1/text_to_image',
    fields: {
      ...promptOf(request, family.promptMax),
      ...family.shape(request),
      ...fields,
      ...(pictures.length > 0 && { referenceImages: pictures }),
    },
  };
}

/** `auto` leaves it to the model, and where that has no such word, to the usual one. */
function qualities(words: readonly string[]): FieldMap<Request> {
  return {
    quality: (quality, field) =>
      quality === 'auto' && !words.includes(quality) ? {} : oneOf('quality', words)(quality, field),
  };
}

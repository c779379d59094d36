import type { JsonObject } from '../../json.ts';
import { canonicalQuality } from '../../quality.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { as, autoOnly, between, type FieldMap, implied, oneOf, shapeAmong, single, wordFor } from '../kit/mapping.ts';
import { exactSize } from '../kit/pixel-size.ts';
import { refuse } from '../kit/refusals.ts';
import type { Media } from '../vendor.ts';
import { SHAPES_3, SIZES_3, SIZES_4 } from './sizes.ts';

export type Request = ImageRequest<Media>;

/** A call of the vendor. */
export interface Operation {
  /** Behind the name of the model's version. */
  readonly name: string;
  readonly version: string;
  readonly takes: FieldMap<Request>;
  /** Sent unless the caller's own keys say otherwise. */
  readonly defaults: JsonObject;
  readonly isForm: boolean;
  readonly countMax: number;
}

const TRANSPARENT = /^(.+)-transparent$/;
const FOURTH = /^ideogram-v4/;
const SEED_MAX = 2 ** 31 - 1;
const COUNT_MAX = 8;
const SPEEDS = { low: 'TURBO', medium: 'DEFAULT', high: 'QUALITY' };
const STYLES = { auto: 'AUTO', general: 'GENERAL', realistic: 'REALISTIC', design: 'DESIGN', fiction: 'FICTION' };
/** The speed decides the price, and the vendor rewrites prompts where it is not told to leave them. */
const DEFAULTS = { rendering_speed: 'DEFAULT', magic_prompt: 'OFF' };

const usual: FieldMap<Request> = {
  size: autoOnly,
  aspectRatio: shapeAmong('aspect_ratio', []),
  quality: (quality, field) => {
    const word = canonicalQuality(quality);
    return word === 'auto' ? {} : wordFor('rendering_speed', SPEEDS)(word, field);
  },
  // It makes no other, and has no word for it.
  outputFormat: implied('png'),
};
const opaque: FieldMap<Request> = { background: implied('auto', 'opaque') };
const prompted: FieldMap<Request> = { prompt: as('prompt'), seed: between('seed', 0, SEED_MAX) };
const styled: FieldMap<Request> = { style: wordFor('style_type', STYLES) };
const shaped: FieldMap<Request> = {
  aspectRatio: (ratio, field, { size }) => {
    if (hasSize(size)) throw unsupported(field, { notWith: 'size' });
    const { aspect_ratio } = shapeAmong('aspect_ratio', SHAPES_3)(ratio, field);
    return aspect_ratio === undefined ? {} : { aspect_ratio: ratio.replace(':', 'x') };
  },
};
/** Every size is of one tier, so that nothing is sent for that. */
const sized: FieldMap<Request> = {
  size: exactSize(oneOf('resolution', SIZES_3)),
  resolution: implied('1k'),
  ...shaped,
};

const GENERATE: FieldMap<Request> = {
  ...usual,
  ...prompted,
  ...opaque,
  ...styled,
  ...sized,
  negativePrompt: as('negative_prompt'),
};
const REMIX: FieldMap<Request> = { ...GENERATE, referenceImages: single('image') };
/** The result is as large as the picture. */
const EDIT: FieldMap<Request> = {
  ...usual,
  ...prompted,
  ...opaque,
  ...styled,
  referenceImages: single('image'),
  mask: as('mask'),
};
/** As large as the vendor likes. */
const CUT_OUT: FieldMap<Request> = {
  ...usual,
  ...prompted,
  ...shaped,
  negativePrompt: as('negative_prompt'),
  background: implied('auto', 'transparent'),
};
const GENERATE_4: FieldMap<Request> = {
  ...usual,
  ...opaque,
  prompt: as('text_prompt'),
  size: exactSize(oneOf('resolution', Object.values(SIZES_4))),
  resolution: implied('2k'),
  aspectRatio: (ratio, field, { size }) => {
    if (hasSize(size)) throw unsupported(field, { notWith: 'size' });
    return ratio === 'auto' || ratio === 'adaptive' ? {} : wordFor('resolution', SIZES_4)(ratio, field);
  },
};

/** By the model, and by what goes with the prompt. Throws ApiError for a mask of nothing. */
export function operationOf({ referenceImages, mask }: Request, model: string): Operation {
  const [, cutOut] = TRANSPARENT.exec(model) ?? [];
  const third = { version: model, defaults: DEFAULTS, isForm: false, countMax: COUNT_MAX };
  if (cutOut !== undefined) return { ...third, version: cutOut, name: 'generate-transparent', takes: CUT_OUT };
  if (FOURTH.test(model)) {
    const defaults = { rendering_speed: DEFAULTS.rendering_speed };
    return { version: model, name: 'generate', takes: GENERATE_4, defaults, isForm: true, countMax: 1 };
  }
  if (mask !== undefined) {
    refuse('reference_images', referenceImages.length === 0, { atLeast: 1 });
    return { ...third, name: 'edit', takes: EDIT, isForm: true };
  }
  if (referenceImages.length > 0) return { ...third, name: 'remix', takes: REMIX, isForm: true };
  return { ...third, name: 'generate', takes: GENERATE };
}

function hasSize(size: string | undefined): boolean {
  return size !== undefined && size !== 'auto';
}

import { canonicalQuality } from '../../../src/quality.ts';
import type { ImageRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import { keepMask, keepPictures } from './inputs.ts';
import { type ShapeRules, sizeOf } from './shape.ts';
import { checkSeed, type Kind, refuse, seedOf } from './tasks.ts';

const PER_CALL = 4;

/** A tier is the longer side. */
const RULES: ShapeRules = {
  tiers: new Map([
    ['1k', 1024],
    ['2k', 2048],
    ['4k', 4096],
  ]),
  usualTier: '1k',
  measures: 'longer',
  ratio: { width: 1, height: 1 },
  sideMin: 64,
  sideMax: 4096,
  pixelsMax: 4096 * 4096,
  step: 1,
};

const QUALITIES = new Map<string, 'low' | 'medium' | 'high'>([
  ['low', 'low'],
  ['medium', 'medium'],
  ['auto', 'medium'],
  ['high', 'high'],
]);

export const imageKind: Kind<ImageRequest<Media>> = {
  check(request) {
    const { quality, background, outputFormat, mask, referenceImages } = request;
    sizeOf(request, RULES);
    if (quality !== undefined) qualityOf(quality);
    if (background !== undefined && !['transparent', 'opaque', 'auto'].includes(background)) {
      refuse('background', { oneOf: ['transparent', 'opaque', 'auto'] });
    }
    if (background === 'transparent' && outputFormat === 'jpeg') refuse('background', 'another value');
    if (mask !== undefined && referenceImages.length === 0) refuse('mask', 'another value');
    checkSeed(request);
  },
  perCall: () => PER_CALL,
  async plan(request, order) {
    const { mask, referenceImages } = request;
    const pictures = await keepPictures(referenceImages, mask === undefined ? 0 : 1);
    const [source] = pictures;
    return {
      kind: 'image',
      prompt: request.prompt,
      unwanted: request.negativePrompt ?? '',
      style: request.style ?? '',
      quality: qualityOf(request.quality ?? 'auto'),
      ...sizeOf(request, RULES, source),
      format: request.outputFormat ?? 'png',
      seed: seedOf(request, order, PER_CALL),
      count: order.count,
      isTransparent: request.background === 'transparent',
      hasMark: request.watermark === true,
      references: pictures.map(({ base64 }) => base64),
      mask: mask === undefined || source === undefined ? null : await keepMask(mask, source),
    };
  },
};

function qualityOf(quality: string): 'low' | 'medium' | 'high' {
  return QUALITIES.get(canonicalQuality(quality)) ?? refuse('quality', { oneOf: [...QUALITIES.keys()] });
}

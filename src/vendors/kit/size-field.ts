import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import type { FieldMap, WireFields } from './mapping.ts';
import { shapeIn, sidesIn, sidesOfShape, sizeOrShape } from './pixel-size.ts';

type Request = ImageRequest<Media>;

/** What sizes a family makes. */
export interface SizeRules {
  /** Tiers of `resolution`; one of them is `1k` or `2k`, for a shape without a tier. */
  readonly tiers: readonly string[];
  readonly pixelsMin: number;
  readonly pixelsMax: number;
}

const SIDE_OF_1K = 1024;
const GRID = { step: 16, sideMax: Number.POSITIVE_INFINITY };
const SHAPE_MAX = 16;

/** There is one field: a tier, whose shape the model then chooses, or a width and a height. */
export function sized(rules: SizeRules): FieldMap<Request> {
  return sizeOrShape(
    (size, field) => sizeWithin(size, field, rules),
    (request, field) => sizeOfShape(request, field, rules),
  );
}

function sizeWithin(size: string, field: string, { pixelsMin, pixelsMax }: SizeRules): WireFields {
  const [width, height] = sidesIn(size);
  if (!(width * height >= pixelsMin)) throw unsupported(field, { atLeast: pixelsMin, unit: 'pixels' });
  if (width * height > pixelsMax) throw unsupported(field, { atMost: pixelsMax, unit: 'pixels' });
  shapeIn(size, field, SHAPE_MAX);
  return { size };
}

function sizeOfShape({ resolution, aspectRatio }: Request, field: string, rules: SizeRules): WireFields {
  const tier = resolution?.toLowerCase();
  if (tier !== undefined && !rules.tiers.includes(tier)) throw unsupported('resolution', { oneOf: rules.tiers });
  const isFree = aspectRatio === undefined || aspectRatio === 'auto';
  if (isFree) return tier === undefined ? {} : { size: tier.toUpperCase() };
  const usual = rules.tiers.includes('2k') ? '2k' : '1k';
  const side = SIDE_OF_1K * Number.parseInt(tier ?? usual, 10);
  const [width, height] = sidesOfShape(shapeIn(aspectRatio, field, SHAPE_MAX), side, GRID);
  if (width * height < rules.pixelsMin) throw unsupported('resolution', { notWith: 'aspect_ratio' });
  return { size: `${width}x${height}` };
}

import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import { type FieldMap, isAutomatic, type WireFields } from './mapping.ts';
import { shapeIn, sidesIn, sidesOfShape, sizeOrShape } from './pixel-size.ts';

type Request = ImageRequest<Media>;

/** What sizes a family makes. */
export interface SizeRules {
  /** Between a width and a height. */
  readonly separator: 'x' | '*';
  readonly pixelsMin: number;
  readonly pixelsMax: number;
  /** How many times longer one side may be than the other. */
  readonly shapeMax: number;
  /** The side of the square that a shape without a tier has the area of. */
  readonly sideUsual: number;
  /** Of `resolution`, such as `2k`: the area of a square with so many times 1024 pixels a side. */
  readonly tiers: readonly string[];
  /** A tier without a shape is told by its name, and the model chooses one; otherwise it is the square. */
  readonly hasTierNames: boolean;
}

const SIDE_OF_1K = 1024;
const GRID = { step: 16, sideMax: Number.POSITIVE_INFINITY };

/** For models that have one field for tier and shape: a width and a height. */
export function sized(rules: SizeRules): FieldMap<Request> {
  return sizeOrShape(
    (size, field) => sizeWithin(size, field, rules),
    (request, field) => sizeOfShape(request, field, rules),
  );
}

function sizeWithin(size: string, field: string, rules: SizeRules): WireFields {
  const { pixelsMin, pixelsMax, shapeMax, separator } = rules;
  const [width, height] = sidesIn(size);
  if (!(width * height >= pixelsMin)) throw unsupported(field, { atLeast: pixelsMin, unit: 'pixels' });
  if (width * height > pixelsMax) throw unsupported(field, { atMost: pixelsMax, unit: 'pixels' });
  shapeIn(size, field, shapeMax);
  return { size: `${width}${separator}${height}` };
}

function sizeOfShape({ resolution, aspectRatio }: Request, field: string, rules: SizeRules): WireFields {
  const { tiers, sideUsual, hasTierNames, separator, pixelsMin, shapeMax } = rules;
  const tier = resolution?.toLowerCase();
  if (tier !== undefined && !tiers.includes(tier)) throw unsupported('resolution', { oneOf: tiers });
  const isFree = isAutomatic(aspectRatio);
  if (tier === undefined && isFree) return {};
  if (tier !== undefined && isFree && hasTierNames) return { size: tier.toUpperCase() };
  const side = tier === undefined ? sideUsual : SIDE_OF_1K * Number.parseInt(tier, 10);
  const [width, height] = sidesOfShape(shapeIn(isFree ? '1:1' : aspectRatio, field, shapeMax), side, GRID);
  if (width * height < pixelsMin) throw unsupported('resolution', { notWith: 'aspect_ratio' });
  return { size: `${width}${separator}${height}` };
}

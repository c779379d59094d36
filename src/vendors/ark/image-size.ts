import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { FieldMap, WireFields } from '../kit/mapping.ts';
import type { Media } from '../vendor.ts';

type Request = ImageRequest<Media>;

/** What sizes a family makes. */
export interface SizeRules {
  /** Tiers of `resolution`; one of them is `1k` or `2k`, for a shape without a tier. */
  readonly tiers: readonly string[];
  readonly pixelsMin: number;
  readonly pixelsMax: number;
}

const SIDE_OF_1K = 1024;
const SIDE_STEP = 16;
const SHAPE_MAX = 16;

/** There is one field: a tier, whose shape the model then chooses, or a width and a height. */
export function sized(rules: SizeRules): FieldMap<Request> {
  const take = (_value: string, field: string, request: Request) =>
    request.size === undefined || request.size === 'auto' ? sizeOfShape(request, field, rules) : {};
  return {
    size: (size, field, request) => exactSize(size, field, request, rules),
    resolution: take,
    aspectRatio: take,
  };
}

function exactSize(size: string, field: string, { resolution }: Request, rules: SizeRules): WireFields {
  if (size === 'auto') return {};
  // A tier has its price, and a size of the caller's own would get around it.
  if (resolution !== undefined) throw unsupported('resolution', { notWith: 'size' });
  const [width = 0, height = 0] = size.split('x').map(Number);
  const { pixelsMin, pixelsMax } = rules;
  if (!(width * height >= pixelsMin)) throw unsupported(field, { atLeast: pixelsMin, unit: 'pixels' });
  if (width * height > pixelsMax) throw unsupported(field, { atMost: pixelsMax, unit: 'pixels' });
  shapeIn(`${width}:${height}`, field);
  return { size };
}

function sizeOfShape({ resolution, aspectRatio }: Request, field: string, rules: SizeRules): WireFields {
  const tier = resolution?.toLowerCase();
  if (tier !== undefined && !rules.tiers.includes(tier)) throw unsupported('resolution', { oneOf: rules.tiers });
  const isFree = aspectRatio === undefined || aspectRatio === 'auto';
  if (isFree) return tier === undefined ? {} : { size: tier.toUpperCase() };
  const usual = rules.tiers.includes('2k') ? '2k' : '1k';
  return { size: pixelsOf(aspectRatio, SIDE_OF_1K * Number.parseInt(tier ?? usual, 10), field, rules) };
}

/** The area of the tier's square, in the shape asked for, and never more. */
function pixelsOf(ratio: string, side: number, field: string, { pixelsMin }: SizeRules): string {
  const [across, down] = shapeIn(ratio, field);
  const [long, short] = [Math.max(across, down), Math.min(across, down)];
  const longer = roundDown(side * Math.sqrt(long / short));
  const shorter = roundDown(Math.min((longer * short) / long, (side * side) / longer));
  if (longer * shorter < pixelsMin) throw unsupported('resolution', { notWith: 'aspect_ratio' });
  return across > down ? `${longer}x${shorter}` : `${shorter}x${longer}`;
}

function roundDown(pixels: number): number {
  return Math.floor(pixels / SIDE_STEP) * SIDE_STEP;
}

function shapeIn(ratio: string, field: string): readonly [across: number, down: number] {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  const isWithin = across > 0 && down > 0 && Math.max(across / down, down / across) <= SHAPE_MAX;
  if (!isWithin) throw unsupported(field, 'another value');
  return [across, down];
}

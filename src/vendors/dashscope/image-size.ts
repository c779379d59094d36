import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { type FieldMap, oneOf, type WireFields, wordFor } from '../kit/mapping.ts';
import type { Media } from '../vendor.ts';

type Request = ImageRequest<Media>;

/** What sizes a family makes. */
export interface SizeRules {
  /** The side of the square that a shape without a tier has the area of. */
  readonly usual: number;
  readonly pixels: readonly [min: number, max: number];
  readonly shapeMax: number;
  /** The tiers of `resolution` with the side of their square. */
  readonly tiers?: Readonly<Record<string, number>>;
  /** A tier has a word of the vendor's, and leaves the shape to the model. */
  readonly hasTierWords?: boolean;
}

const SIDE_STEP = 16;

/** There is one field, a width and a height with an asterisk between them. */
export function sized(rules: SizeRules): FieldMap<Request> {
  const take = (_value: string, field: string, request: Request) =>
    isLeftOpen(request.size) ? sizeOfShape(request, field, rules) : {};
  return {
    size: (size, field, request) => exactSize(size, field, request, rules),
    resolution: take,
    aspectRatio: take,
  };
}

/** For models that make but a few sizes, one of each shape. */
export function fixedSizes(sizes: Readonly<Record<string, string>>): FieldMap<Request> {
  return {
    size: (size, field): WireFields => {
      if (size === 'auto') return {};
      oneOf(
        '',
        Object.values(sizes).map((each) => each.replace('*', 'x')),
      )(size, field);
      return { size: size.replace('x', '*') };
    },
    aspectRatio: (ratio, field, request): WireFields => {
      if (isLeftOpen(ratio) || !isLeftOpen(request.size)) return {};
      return wordFor('size', sizes)(ratio, field);
    },
  };
}

function isLeftOpen(value: string | undefined): boolean {
  return value === undefined || value === 'auto' || value === 'adaptive';
}

function exactSize(size: string, field: string, { resolution }: Request, rules: SizeRules): WireFields {
  if (size === 'auto') return {};
  // A tier has its price, and a size of the caller's own would get around it.
  if (resolution !== undefined) throw unsupported('resolution', { notWith: 'size' });
  const [width = 0, height = 0] = size.split('x').map(Number);
  const [min, max] = rules.pixels;
  if (width * height < min) throw unsupported(field, { atLeast: min, unit: 'pixels' });
  if (width * height > max) throw unsupported(field, { atMost: max, unit: 'pixels' });
  shapeIn(`${width}:${height}`, field, rules);
  return { size: `${width}*${height}` };
}

function sizeOfShape({ resolution, aspectRatio }: Request, field: string, rules: SizeRules): WireFields {
  const { tiers = {}, usual, hasTierWords } = rules;
  const tier = resolution?.toLowerCase();
  const side = tier === undefined ? usual : Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
  if (side === undefined) throw unsupported('resolution', { oneOf: Object.keys(tiers) });
  if (aspectRatio === undefined || isLeftOpen(aspectRatio)) {
    if (tier === undefined) return {};
    return { size: hasTierWords === true ? tier.toUpperCase() : `${side}*${side}` };
  }
  return { size: pixelsOf(shapeIn(aspectRatio, field, rules), side) };
}

/** The area of the square, in the shape asked for, and never more. */
function pixelsOf([across, down]: readonly [number, number], side: number): string {
  const [long, short] = [Math.max(across, down), Math.min(across, down)];
  const longer = Math.floor((side * Math.sqrt(long / short)) / SIDE_STEP) * SIDE_STEP;
  const nearest = Math.round((longer * short) / long / SIDE_STEP) * SIDE_STEP;
  const shorter = longer * nearest <= side * side ? nearest : nearest - SIDE_STEP;
  return across > down ? `${longer}*${shorter}` : `${shorter}*${longer}`;
}

function shapeIn(ratio: string, field: string, { shapeMax }: SizeRules): readonly [across: number, down: number] {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  const isWithin = across > 0 && down > 0 && Math.max(across / down, down / across) <= shapeMax;
  if (!isWithin) throw unsupported(field, 'another value');
  return [across, down];
}

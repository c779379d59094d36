import { unsupported } from '../../unsupported.ts';
import type { WireFields } from '../kit/mapping.ts';

interface Asked {
  readonly size: string | undefined;
  readonly resolution: string | undefined;
  readonly aspectRatio: string | undefined;
}

/** How a model is told size, tier and shape. Throws ApiError for what it does not make. */
export type ShapeRule = (asked: Asked) => WireFields;

/** Sizes as `W:H` by their tier; the first tier, and the first size of each, is what is made where nothing is asked. */
export type Tiers = Readonly<Record<string, readonly string[]>>;

/** How far the sizes of a shape are from it: sides divide by 16. */
const SHAPE_TOLERANCE = 0.04;

/** For models that take one of a list of sizes, which the vendor calls a ratio. It is always sent: most require it. */
export function inPixels(tiers: Tiers): ShapeRule {
  return (asked) => ({ ratio: isOpen(asked.size) ? sizeOfTier(asked, tiers) : exactSize(asked, tiers) });
}

/** For models that take the shape in words, and the tier where there are any. */
export function inWords(ratios: readonly string[], tiers: readonly string[]): ShapeRule {
  return (asked) => {
    if (!isOpen(asked.size)) throw unsupported('size');
    const ratio = isOpen(asked.aspectRatio) ? ratios[0] : asked.aspectRatio;
    if (ratio !== undefined && !ratios.includes(ratio)) throw unsupported('aspect_ratio', { oneOf: ratios });
    const resolution = tierIn(asked, tiers);
    return { ...(ratio !== undefined && { ratio }), ...(resolution !== undefined && { resolution }) };
  };
}

/** For clips whose shape is that of their first frame, with the tier in a field of its own or within the ratio. */
export function byFrame(tiers: readonly string[], name: 'resolution' | 'ratio' = 'resolution'): ShapeRule {
  return (asked) => {
    refuseShape(asked);
    const tier = tierIn(asked, tiers);
    return tier === undefined ? {} : { [name]: name === 'ratio' ? `auto_${tier}` : tier };
  };
}

function refuseShape({ size, aspectRatio }: Asked): void {
  if (!isOpen(size)) throw unsupported('size');
  if (!isOpen(aspectRatio)) throw unsupported('aspect_ratio');
}

/** Left to the model. */
function isOpen(value: string | undefined): value is 'auto' | undefined {
  return value === undefined || value === 'auto';
}

function tierIn({ resolution }: Asked, tiers: readonly string[]): string | undefined {
  const tier = resolution?.toLowerCase() ?? tiers[0];
  if (tier !== undefined && !tiers.includes(tier)) throw unsupported('resolution', { oneOf: tiers });
  return tier;
}

function exactSize({ size = '', resolution }: Asked, tiers: Tiers): string {
  // A tier has its price, and a size of the caller's own would get around it.
  if (resolution !== undefined) throw unsupported('resolution', { notWith: 'size' });
  const ratio = size.replace('x', ':');
  const sizes = Object.values(tiers).flat();
  if (!sizes.includes(ratio)) throw unsupported('size', { oneOf: sizes.map((each) => each.replace(':', 'x')) });
  return ratio;
}

function sizeOfTier(asked: Asked, tiers: Tiers): string {
  const tier = tierIn(asked, Object.keys(tiers)) ?? '';
  const sizes = tiers[tier] ?? [];
  const [usual = ''] = sizes;
  if (isOpen(asked.aspectRatio)) return usual;
  const shape = asked.aspectRatio;
  const distance = (size: string) => Math.abs(Math.log(quotientOf(size) / quotientOf(shape)));
  const [nearest = usual] = sizes.toSorted((one, other) => distance(one) - distance(other));
  if (!(distance(nearest) <= SHAPE_TOLERANCE)) throw unsupported('aspect_ratio', 'another value');
  return nearest;
}

function quotientOf(ratio: string): number {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  return across / down;
}

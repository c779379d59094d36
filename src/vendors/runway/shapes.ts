import { unsupported } from '../../unsupported.ts';
import type { WireFields } from '../kit/mapping.ts';

/** The fields that decide how large a result is, and of which shape. */
interface ShapeFields {
  readonly size: string | undefined;
  readonly resolution: string | undefined;
  readonly aspectRatio: string | undefined;
}

/** How a model is told size, tier and shape. Throws ApiError for what it does not make. */
export type ShapeRule = (fields: ShapeFields) => WireFields;

/** Sizes as `W:H` by their tier; the first tier, and the first size of each, is what is made by default. */
export type Tiers = Readonly<Record<string, readonly string[]>>;

/** How far the sizes of a shape are from it: sides divide by 16. */
const SHAPE_TOLERANCE = 0.04;

/** For models that take one of a list of sizes, which the vendor calls a ratio. It is always sent: most require it. */
export function inPixels(tiers: Tiers): ShapeRule {
  return (fields) => ({ ratio: isOpen(fields.size) ? sizeOfTier(fields, tiers) : exactSize(fields, tiers) });
}

/** For models that take the shape in words, and the tier where there are any. */
export function inWords(ratios: readonly string[], tiers: readonly string[]): ShapeRule {
  return (fields) => {
    if (!isOpen(fields.size)) throw unsupported('size');
    const ratio = isOpen(fields.aspectRatio) ? ratios[0] : fields.aspectRatio;
    if (ratio !== undefined && !ratios.includes(ratio)) throw unsupported('aspect_ratio', { oneOf: ratios });
    const resolution = tierIn(fields, tiers);
    return { ...(ratio !== undefined && { ratio }), ...(resolution !== undefined && { resolution }) };
  };
}

/** For clips whose shape is that of their first frame, with the tier in a field of its own or within the ratio. */
export function byFrame(tiers: readonly string[], name: 'resolution' | 'ratio' = 'resolution'): ShapeRule {
  return (fields) => {
    if (!isOpen(fields.size)) throw unsupported('size');
    if (!isOpen(fields.aspectRatio)) throw unsupported('aspect_ratio');
    const tier = tierIn(fields, tiers);
    return tier === undefined ? {} : { [name]: name === 'ratio' ? `auto_${tier}` : tier };
  };
}

/** Left to the model. */
function isOpen(value: string | undefined): value is 'auto' | undefined {
  return value === undefined || value === 'auto';
}

function tierIn({ resolution }: ShapeFields, tiers: readonly string[]): string | undefined {
  const tier = resolution?.toLowerCase() ?? tiers[0];
  if (tier !== undefined && !tiers.includes(tier)) throw unsupported('resolution', { oneOf: tiers });
  return tier;
}

function exactSize({ size = '', resolution }: ShapeFields, tiers: Tiers): string {
  // A tier has its price, and a size of the caller's own would get around it.
  if (resolution !== undefined) throw unsupported('resolution', { notWith: 'size' });
  const ratio = size.replace('x', ':');
  const sizes = Object.values(tiers).flat();
  if (!sizes.includes(ratio)) throw unsupported('size', { oneOf: sizes.map((each) => each.replace(':', 'x')) });
  return ratio;
}

function sizeOfTier(fields: ShapeFields, tiers: Tiers): string {
  const tier = tierIn(fields, Object.keys(tiers)) ?? '';
  const sizes = tiers[tier] ?? [];
  const [usual = ''] = sizes;
  if (isOpen(fields.aspectRatio)) return usual;
  const shape = fields.aspectRatio;
  const distance = (size: string) => Math.abs(Math.log(quotientOf(size) / quotientOf(shape)));
  const [nearest = usual] = sizes.toSorted((one, other) => distance(one) - distance(other));
  if (!(distance(nearest) <= SHAPE_TOLERANCE)) throw unsupported('aspect_ratio', 'another value');
  return nearest;
}

function quotientOf(ratio: string): number {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  return across / down;
}

import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import { autoOnly, type FieldMap, type WireFields } from './mapping.ts';

type Request = ImageRequest<Media>;

/** What widths and heights a family makes. */
export interface SizeRules {
  readonly step: number;
  readonly sideMin: number;
  readonly sideMax: number;
  readonly pixelsMax: number;
  /** The tiers of `resolution` with the side of their square. */
  readonly tiers: Readonly<Record<string, number>>;
}

/** Of a shape without a tier. */
const SIDE_USUAL = 1024;
/** From 21:9 to 9:21. */
const SHAPE_MAX = 21 / 9;

/**
 * For models that take a width and a height: tier and shape become those. `beside` is what has to be sent with them where a
 * model would go by something else.
 */
export function inPixels(
  rules: SizeRules,
  beside: WireFields = {},
): Required<Pick<FieldMap<Request>, 'size' | 'resolution' | 'aspectRatio'>> {
  const whole = (sides: WireFields) => ('width' in sides ? { ...beside, ...sides } : sides);
  const take = (_value: string, field: string, request: Request) =>
    hasSize(request) ? {} : whole(sizeOfShape(request, field, rules));
  const exact = (size: string, _field: string, request: Request) => whole(exactSize(size, request, rules));
  return { size: exact, resolution: take, aspectRatio: take };
}

/** For models that take a shape only. */
export const byShape: FieldMap<Request> = {
  size: autoOnly,
  aspectRatio: (ratio, field): WireFields => {
    if (ratio === 'auto') return {};
    const { across, down } = shapeIn(ratio, field);
    if (!Number.isInteger(across) || !Number.isInteger(down)) throw unsupported(field, 'another value');
    return { aspect_ratio: ratio };
  },
};

function hasSize({ size }: Request): boolean {
  return size !== undefined && size !== 'auto';
}

function exactSize(size: string, { resolution }: Request, rules: SizeRules): WireFields {
  if (size === 'auto') return {};
  // A tier has its price, and a size of the caller's own would get around it.
  if (resolution !== undefined) throw unsupported('resolution', { notWith: 'size' });
  const [width = 0, height = 0] = size.split('x').map(Number);
  for (const side of [width, height]) {
    if (!(side >= rules.sideMin && side <= rules.sideMax)) {
      throw unsupported('size', { oneOf: [`sides of ${rules.sideMin} to ${rules.sideMax}`] });
    }
    if (side % rules.step !== 0) throw unsupported('size', { oneOf: [`sides that divide by ${rules.step}`] });
  }
  if (width * height > rules.pixelsMax) throw unsupported('size', { atMost: rules.pixelsMax, unit: 'pixels' });
  return { width, height };
}

/** The area of the tier's square, in the shape asked for, and never more. */
function sizeOfShape({ resolution, aspectRatio }: Request, field: string, rules: SizeRules): WireFields {
  const side = resolution === undefined ? SIDE_USUAL : rules.tiers[resolution.toLowerCase()];
  if (side === undefined) throw unsupported('resolution', { oneOf: Object.keys(rules.tiers) });
  if (resolution === undefined && aspectRatio === 'auto') return {};
  const { across, down } = shapeIn(aspectRatio === undefined || aspectRatio === 'auto' ? '1:1' : aspectRatio, field);
  const [long, short] = [Math.max(across, down), Math.min(across, down)];
  const longer = roundToStep(Math.min(side * Math.sqrt(long / short), rules.sideMax), rules);
  const shorter = roundToStep(Math.min((longer * short) / long, (side * side) / longer), rules);
  if (shorter < rules.sideMin) throw unsupported(field, 'another value');
  return across > down ? { width: longer, height: shorter } : { width: shorter, height: longer };
}

function roundToStep(pixels: number, { step }: SizeRules): number {
  return Math.floor(pixels / step) * step;
}

function shapeIn(ratio: string, field: string): { readonly across: number; readonly down: number } {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  const isWithin = across > 0 && down > 0 && Math.max(across / down, down / across) <= SHAPE_MAX;
  if (!isWithin) throw unsupported(field, 'another value');
  return { across, down };
}

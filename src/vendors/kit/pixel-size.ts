import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { Media } from '../vendor.ts';
import { autoOnly, type FieldMap, type WireFields } from './mapping.ts';

type Request = ImageRequest<Media>;
type SizeFields = Required<Pick<FieldMap<Request>, 'size' | 'resolution' | 'aspectRatio'>>;
type ExactSize = (size: string, field: string, request: Request) => WireFields;

type Sides = readonly [width: number, height: number];

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
export function inPixels(rules: SizeRules, beside: WireFields = {}): SizeFields {
  const whole = (sides: WireFields) => ('width' in sides ? { ...beside, ...sides } : sides);
  return sizeOrShape(
    (size) => whole(sidesWithin(size, rules)),
    (request, field) => whole(sizeOfShape(request, field, rules)),
  );
}

/** `exact` is asked for a size of the caller's own, `shaped` for tier and shape where there is none. */
export function sizeOrShape(exact: ExactSize, shaped: (request: Request, field: string) => WireFields): SizeFields {
  const take = (_value: string, field: string, request: Request) => (hasSize(request) ? {} : shaped(request, field));
  return { size: exactSize(exact), resolution: take, aspectRatio: take };
}

/** `auto` sends nothing. A tier has its price, and a size of the caller's own would get around it: they are refused together. */
export function exactSize(exact: ExactSize): ExactSize {
  return (size, field, request) => {
    if (size === 'auto') return {};
    if (request.resolution !== undefined) throw unsupported('resolution', { notWith: 'size' });
    return exact(size, field, request);
  };
}

/** For models that take a shape only. */
export const byShape: FieldMap<Request> = {
  size: autoOnly,
  aspectRatio: (ratio, field): WireFields => {
    if (ratio === 'auto') return {};
    const shape = shapeIn(ratio, field, SHAPE_MAX);
    if (!shape.every(Number.isInteger)) throw unsupported(field, 'another value');
    return { aspect_ratio: ratio };
  },
};

/** The width and height of a size, or of a shape. */
export function sidesIn(text: string): Sides {
  const [width = 0, height = 0] = text.split(/[x:]/).map(Number);
  return [width, height];
}

/** `shapeMax` is how many times longer one side may be than the other. */
export function shapeIn(ratio: string, field: string, shapeMax: number): Sides {
  const [across, down] = sidesIn(ratio);
  const isWithin = across > 0 && down > 0 && Math.max(across / down, down / across) <= shapeMax;
  if (!isWithin) throw unsupported(field, 'another value');
  return [across, down];
}

/** As near to the shape as the step allows, with no more pixels than the square of the side: that is what is paid for. */
export function sidesOfShape([across, down]: Sides, side: number, { step, sideMax }: PixelGrid): Sides {
  const [long, short] = [Math.max(across, down), Math.min(across, down)];
  const longer = Math.floor(Math.min(side * Math.sqrt(long / short), sideMax) / step) * step;
  const nearest = Math.round((longer * short) / long / step) * step;
  const shorter = longer * nearest <= side * side ? nearest : nearest - step;
  return across > down ? [longer, shorter] : [shorter, longer];
}

type PixelGrid = Pick<SizeRules, 'step' | 'sideMax'>;

function hasSize({ size }: Request): boolean {
  return size !== undefined && size !== 'auto';
}

function sidesWithin(size: string, rules: SizeRules): WireFields {
  const [width, height] = sidesIn(size);
  for (const side of [width, height]) {
    if (!(side >= rules.sideMin && side <= rules.sideMax)) {
      throw unsupported('size', { oneOf: [`sides of ${rules.sideMin} to ${rules.sideMax}`] });
    }
    if (side % rules.step !== 0) throw unsupported('size', { oneOf: [`sides that divide by ${rules.step}`] });
  }
  if (width * height > rules.pixelsMax) throw unsupported('size', { atMost: rules.pixelsMax, unit: 'pixels' });
  return { width, height };
}

function sizeOfShape({ resolution, aspectRatio }: Request, field: string, rules: SizeRules): WireFields {
  const side = resolution === undefined ? SIDE_USUAL : rules.tiers[resolution.toLowerCase()];
  if (side === undefined) throw unsupported('resolution', { oneOf: Object.keys(rules.tiers) });
  if (resolution === undefined && aspectRatio === 'auto') return {};
  const ratio = aspectRatio === undefined || aspectRatio === 'auto' ? '1:1' : aspectRatio;
  const [width, height] = sidesOfShape(shapeIn(ratio, field, SHAPE_MAX), side, rules);
  if (Math.min(width, height) < rules.sideMin) throw unsupported(field, 'another value');
  return { width, height };
}

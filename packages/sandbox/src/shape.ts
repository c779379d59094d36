import { refuse } from './tasks.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface AskedShape {
  readonly size: string | undefined;
  readonly resolution: string | undefined;
  readonly aspectRatio: string | undefined;
}

/** What one kind of picture allows. */
export interface ShapeRules {
  /** Pixels of the tier's side. */
  readonly tiers: ReadonlyMap<string, number>;
  readonly usualTier: string;
  /** Which side a tier measures. */
  readonly measures: 'longer' | 'shorter';
  readonly ratio: Size;
  readonly sideMin: number;
  readonly sideMax: number;
  readonly pixelsMax: number;
  /** Every side is a multiple of it. */
  readonly step: number;
}

const RATIO_MAX = 4;
const GIVEN_RATIO_MAX = 16 / 9;

/**
 * The size asked for: `size` to the pixel, or the tier in the asked shape, or in that of a given picture. Refuses, by
 * its field, what cannot be made.
 */
export function sizeOf({ size, resolution, aspectRatio }: AskedShape, rules: ShapeRules, given?: Size): Size {
  if (size !== undefined && size !== 'auto') {
    const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? refuse('size', { oneOf: ['WxH'] });
    const sides = [Number(width), Number(height)];
    const measured = rules.measures === 'longer' ? Math.max(...sides) : Math.min(...sides);
    // Only the size counts, so it must be of the tier that is paid for.
    if (resolution !== undefined && rules.tiers.get(resolution) !== measured) {
      refuse('resolution', { notWith: 'size' });
    }
    return fitting({ width: Number(width), height: Number(height) }, rules, 'size');
  }
  const side = rules.tiers.get(resolution ?? rules.usualTier);
  if (side === undefined) refuse('resolution', { oneOf: [...rules.tiers.keys()] });
  const isFree = aspectRatio === undefined || aspectRatio === 'auto';
  const ratio = isFree ? bounded(given ?? rules.ratio) : ratioOf(aspectRatio);
  const longer = Math.max(ratio.width, ratio.height);
  const unit = side / (rules.measures === 'longer' ? longer : Math.min(ratio.width, ratio.height));
  const stepped = (length: number) => Math.max(rules.step, Math.round((length * unit) / rules.step) * rules.step);
  return fitting({ width: stepped(ratio.width), height: stepped(ratio.height) }, rules, 'aspect_ratio');
}

function ratioOf(text: string): Size {
  const [, width, height] =
    /^(\d{1,4}(?:\.\d+)?):(\d{1,4}(?:\.\d+)?)$/.exec(text) ?? refuse('aspect_ratio', { oneOf: ['W:H'] });
  const ratio = { width: Number(width), height: Number(height) };
  const [shorter, longer] = [Math.min(ratio.width, ratio.height), Math.max(ratio.width, ratio.height)];
  if (shorter <= 0 || longer > shorter * RATIO_MAX) refuse('aspect_ratio', { oneOf: [`at most ${RATIO_MAX} to 1`] });
  return ratio;
}

/** A given picture may have any shape; a result follows it as far as it can. */
function bounded({ width, height }: Size): Size {
  return { width: Math.max(width, height / GIVEN_RATIO_MAX), height: Math.max(height, width / GIVEN_RATIO_MAX) };
}

function fitting(size: Size, { sideMin, sideMax, pixelsMax, step }: ShapeRules, field: string): Size {
  const sides = [size.width, size.height];
  if (sides.some((side) => side < sideMin || side > sideMax))
    refuse(field, { oneOf: [`sides of ${sideMin} to ${sideMax} pixels`] });
  if (sides.some((side) => side % step !== 0)) refuse(field, { oneOf: [`sides that are multiples of ${step} pixels`] });
  if (size.width * size.height > pixelsMax) refuse(field, { atMost: pixelsMax, unit: 'pixels' });
  return size;
}

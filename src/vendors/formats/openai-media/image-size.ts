/** The bounds of a size in pixels, for the models that take any. */
const STEP = 16;
const SIDE_MAX = 3840;
const PIXELS_MIN = 655_360;
const PIXELS_MAX = 3840 * 2160;
const SHAPE_MAX = 3;

/** Older models know three sizes. */
const FIXED_SIZES: ReadonlyMap<string, string> = new Map([
  ['1:1', '1024x1024'],
  ['3:2', '1536x1024'],
  ['2:3', '1024x1536'],
]);

/** A tier is a number of pixels, whatever the shape. The largest is as large as the models go. */
const PIXELS_OF_TIER: ReadonlyMap<string, number> = new Map([
  ['1k', 1024 * 1024],
  ['2k', 2048 * 2048],
  ['4k', PIXELS_MAX],
]);
const FIRST_TIER = '1k';

/** What `auto` may come to. */
const AUTO_PIXELS_MAX = 1536 * 1536;

export function isTier(resolution: string, areSizesFixed: boolean): boolean {
  return areSizesFixed ? resolution.toLowerCase() === FIRST_TIER : PIXELS_OF_TIER.has(resolution.toLowerCase());
}

/** The smallest tier that has the pixels of a size. */
export function tierOf(size: string, areSizesFixed: boolean): string | undefined {
  if (areSizesFixed) return FIRST_TIER;
  const pixels = pixelsOf(size);
  return [...PIXELS_OF_TIER].find(([, most]) => pixels <= most)?.[0];
}

export function isSize(size: string, areSizesFixed: boolean): boolean {
  if (size === 'auto') return true;
  if (areSizesFixed) return FIXED_SIZES.values().some((fixed) => fixed === size);
  const sides = sidesOf(size);
  return sides !== undefined && areSidesTaken(sides);
}

/** The size for a shape and a tier; undefined if there is none. The shape is square and the tier the first if not given. */
export function sizeFor(
  aspectRatio: string | undefined,
  resolution: string | undefined,
  areSizesFixed: boolean,
): string | undefined {
  const shape = shapeOf(aspectRatio ?? '1:1');
  const pixels = PIXELS_OF_TIER.get((resolution ?? FIRST_TIER).toLowerCase());
  if (shape === undefined || pixels === undefined) return undefined;
  if (areSizesFixed) return FIXED_SIZES.get(shape.join(':'));
  const sides = exactSides(shape, pixels) ?? nearSides(shape, pixels);
  return areSidesTaken(sides) ? sides.join('x') : undefined;
}

/** How many pixels a picture of this size has at most. */
export function pixelsOf(size: string | undefined): number {
  const [width, height] = sidesOf(size ?? '') ?? [];
  return width === undefined || height === undefined ? AUTO_PIXELS_MAX : width * height;
}

type Sides = readonly [width: number, height: number];

function sidesOf(size: string): Sides | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? [];
  return width === undefined || height === undefined ? undefined : [Number(width), Number(height)];
}

function areSidesTaken([width, height]: Sides): boolean {
  const [long, short] = [Math.max(width, height), Math.min(width, height)];
  if (short === 0 || width % STEP !== 0 || height % STEP !== 0) return false;
  if (long > SIDE_MAX || long > short * SHAPE_MAX) return false;
  return width * height >= PIXELS_MIN && width * height <= PIXELS_MAX;
}

/** In lowest terms. `2.39:1` is a shape too. */
function shapeOf(aspectRatio: string): Sides | undefined {
  const [, width, height] = /^(\d{1,4}(?:\.\d{1,2})?):(\d{1,4}(?:\.\d{1,2})?)$/.exec(aspectRatio) ?? [];
  const [wide, high] = [Math.round(Number(width) * 100), Math.round(Number(height) * 100)];
  if (!(wide > 0 && high > 0) || Math.max(wide, high) > Math.min(wide, high) * SHAPE_MAX) return undefined;
  const divisor = greatestDivisor(wide, high);
  return [wide / divisor, high / divisor];
}

/** Exactly of that shape, with at most that many pixels; undefined if that is too coarse. */
function exactSides([wide, high]: Sides, pixels: number): Sides | undefined {
  const unit = Math.max(STEP / greatestDivisor(wide, STEP), STEP / greatestDivisor(high, STEP));
  const [width, height] = [wide * unit, high * unit];
  const times = Math.floor(Math.min(Math.sqrt(pixels / (width * height)), SIDE_MAX / Math.max(width, height)));
  const sides: Sides = [width * times, height * times];
  return sides[0] * sides[1] >= Math.max(pixels / 2, PIXELS_MIN) ? sides : undefined;
}

function nearSides([wide, high]: Sides, pixels: number): Sides {
  const times = Math.min(Math.sqrt(pixels / (wide * high)), SIDE_MAX / Math.max(wide, high));
  const [width, height] = [Math.floor((wide * times) / STEP) * STEP, Math.floor((high * times) / STEP) * STEP];
  return [Math.min(width, height * SHAPE_MAX), Math.min(height, width * SHAPE_MAX)];
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

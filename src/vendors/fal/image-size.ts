import type { JsonObject } from '../../json.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import type { FieldMap, WireFields } from '../kit/mapping.ts';
import { exactSize, sizeOrShape } from '../kit/pixel-size.ts';
import type { Media } from '../vendor.ts';

type Shape = Pick<ImageRequest<Media>, 'resolution' | 'aspectRatio'>;

const SIDE_OF_1K = 1024;
/** No model of these families makes a longer side, and all want sides that divide by this. */
const SIDE_PIXELS_MAX = 4096;
const SIDE_STEP_PIXELS = 16;

const PRESETS: ReadonlyMap<string, string> = new Map([
  ['1:1', 'square_hd'],
  ['4:3', 'landscape_4_3'],
  ['3:4', 'portrait_4_3'],
  ['16:9', 'landscape_16_9'],
  ['9:16', 'portrait_16_9'],
]);

/**
 * For models that have one field for size, tier and shape. `side` is that of a square where no tier is asked for;
 * `free` begins the words for a tier whose shape the model may choose.
 */
export function sized(side: number, free?: string): FieldMap<ImageRequest<Media>> {
  return sizeOrShape(toImageSize, (shape, field) => {
    const size = sizeOf(shape, field, side, free);
    return size === undefined ? {} : { image_size: size };
  });
}

/** For models that have a field of its own for each. */
export const ownSize = exactSize(toImageSize);

function toImageSize(size: string, field: string): WireFields {
  const [width, height] = numbersIn(size, 'x', field);
  return { image_size: { width, height } };
}

function sizeOf(shape: Shape, field: string, side: number, free: string | undefined): JsonObject | string | undefined {
  const ratio = shape.aspectRatio === 'auto' ? undefined : shape.aspectRatio;
  if (shape.resolution === undefined) return ratio && (PRESETS.get(ratio) ?? pixelsOf(ratio, side, field));
  const tier = tierOf(shape.resolution, field);
  if (ratio === undefined && free !== undefined && tier > 1) return `${free}${tier}K`;
  return pixelsOf(ratio ?? '1:1', tier * SIDE_OF_1K, field);
}

/** The area of the square, in the shape asked for. */
function pixelsOf(ratio: string, side: number, field: string): JsonObject {
  const [across, down] = numbersIn(ratio, ':', field);
  const longer = Math.min(side * Math.sqrt(Math.max(across, down) / Math.min(across, down)), SIDE_PIXELS_MAX);
  const shorter = (longer * Math.min(across, down)) / Math.max(across, down);
  const [long, short] = [longer, shorter].map((pixels) => Math.floor(pixels / SIDE_STEP_PIXELS) * SIDE_STEP_PIXELS);
  if (!long || !short) throw unsupported(field, 'another value');
  return across > down ? { width: long, height: short } : { width: short, height: long };
}

function tierOf(resolution: string, field: string): number {
  const tier = /^([1-4])k$/i.exec(resolution)?.[1];
  if (tier === undefined) throw unsupported(field, { oneOf: ['1k', '2k', '3k', '4k'] });
  return Number(tier);
}

function numbersIn(text: string, between: 'x' | ':', field: string): [number, number] {
  const [first, second, ...more] = text.split(between).map(Number);
  if (!isSide(first) || !isSide(second) || more.length > 0) throw unsupported(field, 'another value');
  return [first, second];
}

function isSide(pixels: number | undefined): pixels is number {
  return pixels !== undefined && Number.isInteger(pixels) && pixels > 0;
}

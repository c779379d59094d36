import type { Sharp } from 'sharp';
import { UpstreamError } from '../../../src/errors.ts';
import { IMAGE_PIXELS_MAX } from '../../../src/limits.ts';
import type { Media } from '../../../src/vendors/vendor.ts';

/** A task is stored with its job, so the pictures of a request travel in it small: so many bytes for all of them. */
const PICTURES_BYTES_MAX = 150_000;
const BYTES_PER_PIXEL_MIN = 0.04;
const MASK_SIDE = 512;
const SIDES = [1024, 768, 512, 384, 256, 160, 96] as const;

export interface KeptPicture {
  readonly base64: string;
  readonly width: number;
  readonly height: number;
}

/**
 * The pictures, each as large as its share of the room allows: a small one loses nothing, a photograph becomes a WebP
 * of up to 1024 pixels. Throws UpstreamError for what is no picture.
 */
export async function keepPictures(media: readonly Media[], others = 0): Promise<KeptPicture[]> {
  const share = PICTURES_BYTES_MAX / Math.max(1, media.length + others);
  const pictures: KeptPicture[] = [];
  for (const medium of media) pictures.push(await reading(medium, (image) => smallOf(image, share)));
  return pictures;
}

/**
 * The mask as a grey picture, white where the source is to change: that is where it is transparent, or, if it is
 * transparent nowhere, where it is white. It gets the shape of the picture that it belongs to.
 */
export function keepMask(mask: Media, { width, height }: KeptPicture): Promise<string> {
  return reading(mask, async (image) => {
    const { isOpaque } = await image.stats();
    const change = isOpaque ? image.flatten().greyscale() : image.extractChannel('alpha').negate();
    const scale = Math.min(1, MASK_SIDE / Math.max(width, height));
    const small = change.resize(Math.ceil(width * scale), Math.ceil(height * scale), { fit: 'fill' });
    const png = await small.toColourspace('b-w').png({ palette: true, colours: 4 }).toBuffer();
    return png.toString('base64');
  });
}

/** Pictures were looked at before they came here, but only at their beginning. */
async function reading<Read>(medium: Media, read: (image: Sharp) => Promise<Read>): Promise<Read> {
  const { default: sharp } = await import('sharp');
  const bytes = await medium.read();
  try {
    return await read(sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX, autoOrient: true }));
  } catch (cause) {
    throw new UpstreamError('client', 'a picture of the request cannot be read', { cause });
  }
}

async function smallOf(image: Sharp, bytesMax: number): Promise<KeptPicture> {
  const { default: sharp } = await import('sharp');
  const fit = { fit: 'inside', withoutEnlargement: true } as const;
  // Nothing compresses a photograph further than this, so larger sides need not be tried.
  const sides = SIDES.filter((side) => side * side * BYTES_PER_PIXEL_MIN <= bytesMax);
  const largest = Math.max(...sides);
  const { data, info } = await image.resize(largest, largest, fit).raw().toBuffer({ resolveWithObject: true });
  const copy = () => sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
  const isSmall = info.width * info.height <= bytesMax;
  let best = isSmall ? await copy().png().toBuffer({ resolveWithObject: true }) : undefined;
  for (const side of sides) {
    if (best !== undefined && best.data.length <= bytesMax) break;
    const smaller = copy().resize(side, side, fit).webp({ quality: 76, effort: 2 });
    best = await smaller.toBuffer({ resolveWithObject: true });
  }
  if (best === undefined) throw new Error('there is no room for a picture');
  return { base64: best.data.toString('base64'), width: best.info.width, height: best.info.height };
}

import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import { drawWatermark } from './drawing.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels with red, green, blue and alpha. */
export interface Raster extends Size {
  readonly data: Buffer;
}

export async function rasterOf(source: string | Sharp): Promise<Raster> {
  const image = typeof source === 'string' ? sharp(Buffer.from(source)) : source;
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

export function open({ data, width, height }: Raster): Sharp {
  return sharp(data, { raw: { width, height, channels: 4 } });
}

/** A given picture, to fill the size. */
export async function fitted(picture: string, { width, height }: Size): Promise<Raster> {
  return rasterOf(sharp(Buffer.from(picture, 'base64')).resize(width, height, { fit: 'cover' }));
}

export async function over(raster: Raster, layers: OverlayOptions[]): Promise<Raster> {
  return layers.length === 0 ? raster : rasterOf(open(raster).composite(layers));
}

export function layer(svg: string): OverlayOptions {
  return { input: Buffer.from(svg) };
}

export function marks(piece: Size & { readonly hasMark: boolean }): OverlayOptions[] {
  return piece.hasMark ? [layer(drawWatermark(piece))] : [];
}

/** Given pictures beside the scene, each in a white frame, in rows that end at the right edge. */
export async function insetsOf(pictures: readonly string[], { width, height }: Size): Promise<OverlayOptions[]> {
  const shorter = Math.min(width, height);
  const [gap, side] = [Math.round(shorter * 0.02), Math.round(shorter * (pictures.length > 4 ? 0.15 : 0.22))];
  const border = Math.max(1, Math.round(side * 0.04));
  const frame = { top: border, bottom: border, left: border, right: border, background: '#fff' };
  const columns = Math.max(1, Math.floor((width - gap) / (side + gap)));
  const inset = async (picture: string, index: number) => {
    const small = sharp(Buffer.from(picture, 'base64')).resize(side - 2 * border, side - 2 * border, { fit: 'cover' });
    const row = Math.floor(index / columns);
    const inRow = Math.min(columns, pictures.length - row * columns);
    const left = width - (inRow - (index % columns)) * (side + gap);
    return {
      input: await small.flatten({ background: '#fff' }).extend(frame).png().toBuffer(),
      left,
      top: gap + row * (side + gap),
    };
  };
  return Promise.all(pictures.map(inset));
}

import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import { digest } from '../random.ts';
import { drawCaption, drawScene, drawWatermark, type Sketch } from './drawing.ts';
import type { ImagePiece, Made, Progress } from './piece.ts';
import { mix, paletteOf, readScene } from './scene.ts';

/** Pixels with red, green, blue and alpha. */
export interface Raster {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

const DETAIL = { low: 0.5, medium: 1, high: 2 } as const;

export async function makePictures(piece: ImagePiece, progress: Progress): Promise<Made[]> {
  const made: Made[] = [];
  for (let index = 0; index < piece.count; index++) {
    const raster = await pictureOf(piece, index);
    made.push({ data: await encoded(raster, piece), isThumbnail: false });
    progress((index + 1) / piece.count);
  }
  return made;
}

async function pictureOf(piece: ImagePiece, index: number): Promise<Raster> {
  const { prompt, unwanted, quality, width, height, style, count } = piece;
  const seed = piece.seed + index;
  const sketch = { prompt, unwanted, seed: String(seed), width, height, detail: DETAIL[quality] };
  const facts = [
    `${width} × ${height}`,
    `seed ${seed}`,
    style,
    quality === 'medium' ? '' : `${quality} quality`,
    count > 1 ? `${index + 1} of ${count}` : '',
  ];
  const particulars = facts.filter((fact) => fact !== '').join(' · ');
  const [source] = piece.references;
  if (source === undefined) {
    const scene = await styled(piece, await rasterOf(drawScene({ ...sketch, isCutOut: piece.isTransparent })));
    return over(scene, [...marks(piece), text(drawCaption(sketch, prompt, particulars))]);
  }
  const original = await fitted(source, width, height);
  if (piece.mask !== null) return inMask(piece, original, piece.mask, { ...sketch, isCutOut: false }, particulars);
  const [color] = paletteOf(readScene(prompt, unwanted), () => 0).accents;
  const veil = {
    input: { create: { width, height, channels: 4, background: rgba(color, 0.3) } },
    blend: 'over',
  } as const;
  const tinted = await styled(piece, await over(original, [veil, text(drawScene({ ...sketch, isCutOut: true }))]));
  const insets = await insetsOf(piece.references.slice(1), width, height);
  return over(tinted, [...insets, ...marks(piece), text(drawCaption(sketch, prompt, particulars))]);
}

/** Only what the mask shows is drawn anew, as a scene of its own in the mask's bounds. */
async function inMask(
  piece: ImagePiece,
  original: Raster,
  mask: string,
  sketch: Sketch,
  particulars: string,
): Promise<Raster> {
  const { width, height } = piece;
  const shape = sharp(Buffer.from(mask, 'base64')).resize(width, height, { fit: 'cover' }).greyscale();
  const change = await shape.toColourspace('b-w').extractChannel(0).raw().toBuffer();
  const bounds = boundsOf(change, width, height);
  if (bounds === undefined) return over(original, marks(piece));
  const area = { ...sketch, width: bounds.width, height: bounds.height };
  const scene = await styled(piece, await rasterOf(drawScene(area)));
  // In the middle, because the bounds of a round mask have corners that nobody sees.
  const inner = { width: Math.ceil(area.width * 0.7), height: Math.ceil(area.height * 0.8) };
  const [left, top] = [Math.floor(area.width * 0.15), Math.floor(area.height * 0.1)];
  const drawn = await over(scene, [{ ...text(drawCaption(inner, piece.prompt, particulars)), left, top }]);
  const data = Buffer.from(original.data);
  for (let y = 0; y < bounds.height; y++) {
    for (let x = 0; x < bounds.width; x++) {
      const at = (y + bounds.top) * width + x + bounds.left;
      blend(data, at * 4, drawn.data, (y * bounds.width + x) * 4, (change[at] ?? 0) / 255);
    }
  }
  return over({ data, width, height }, marks(piece));
}

function blend(into: Buffer, at: number, from: Buffer, start: number, part: number): void {
  for (let color = 0; color < 4; color++) {
    const before = into[at + color] ?? 0;
    into[at + color] = Math.round(before + ((from[start + color] ?? 0) - before) * part);
  }
}

function boundsOf(change: Buffer, width: number, height: number) {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let at = 0; at < change.length; at++) {
    if ((change[at] ?? 0) < 128) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

const OUTLINE = [1, 1, 1, 1, -8, 1, 1, 1, 1];
const STYLES: readonly (readonly [RegExp, (image: Sharp) => Sharp])[] = [
  [/vivid/, (image) => image.modulate({ saturation: 1.7, brightness: 1.04 })],
  [/natural|muted|soft/, (image) => image.modulate({ saturation: 0.6 })],
  [/noir|mono|black and white|grey|gray/, (image) => image.modulate({ saturation: 0 })],
  [
    /sketch|pencil|line|drawing/,
    (image) =>
      image
        .removeAlpha()
        .modulate({ saturation: 0 })
        .convolve({ width: 3, height: 3, kernel: OUTLINE, scale: 1, offset: 255 }),
  ],
  [/water|paint|impression/, (image) => image.median(9).modulate({ saturation: 1.2 })],
  [/sepia|vintage|retro/, (image) => image.modulate({ saturation: 0 }).tint('#c8965a')],
];

/** A style has its own look, or, if nobody here knows it, other colours; low quality is coarse, and a pixel style more so. */
async function styled({ style, quality }: ImagePiece, raster: Raster): Promise<Raster> {
  const grain = /pixel|8.?bit|block/i.test(style) ? 16 : quality === 'low' ? 4 : 1;
  const { width, height } = raster;
  let image = open(raster);
  if (grain > 1) {
    const small = await rasterOf(
      image.resize(Math.ceil(width / grain), Math.ceil(height / grain), { kernel: 'cubic' }),
    );
    image = open(small).resize(width, height, { fit: 'fill', kernel: grain > 4 ? 'nearest' : 'cubic' });
  }
  const known = STYLES.find(([words]) => words.test(style.toLowerCase()));
  if (known !== undefined) image = known[1](image);
  else if (style !== '' && grain <= 4)
    image = image.modulate({ hue: 40 + (Number.parseInt(digest(style).slice(0, 4), 16) % 280) });
  const { data } = await rasterOf(image);
  for (let at = 3; at < data.length; at += 4) data[at] = raster.data[at] ?? 255;
  return { data, width, height };
}

/** Given pictures beside the scene, each in a white frame, in rows that end at the right edge. */
export async function insetsOf(pictures: readonly string[], width: number, height: number): Promise<OverlayOptions[]> {
  const gap = Math.round(Math.min(width, height) * 0.02);
  const side = Math.max(8, Math.round(Math.min(width, height) * (pictures.length > 4 ? 0.15 : 0.22)));
  const columns = Math.max(1, Math.floor((width - gap) / (side + gap)));
  return Promise.all(
    pictures.map(async (picture, index) => {
      const border = Math.max(1, Math.round(side * 0.04));
      const inner = side - 2 * border;
      const input = await sharp(Buffer.from(picture, 'base64'))
        .resize(inner, inner, { fit: 'cover' })
        .flatten({ background: '#fff' })
        .extend({ top: border, bottom: border, left: border, right: border, background: '#fff' })
        .png()
        .toBuffer();
      const row = Math.floor(index / columns);
      const inRow = Math.min(columns, pictures.length - row * columns);
      return { input, left: width - (inRow - (index % columns)) * (side + gap), top: gap + row * (side + gap) };
    }),
  );
}

/** A given picture, to fill the size. */
export async function fitted(picture: string, width: number, height: number): Promise<Raster> {
  return rasterOf(sharp(Buffer.from(picture, 'base64')).resize(width, height, { fit: 'cover' }));
}

export function marks({
  hasMark,
  width,
  height,
}: {
  hasMark: boolean;
  width: number;
  height: number;
}): OverlayOptions[] {
  return hasMark ? [text(drawWatermark({ width, height }))] : [];
}

export function text(svg: string): OverlayOptions {
  return { input: Buffer.from(svg) };
}

export async function over(raster: Raster, layers: OverlayOptions[]): Promise<Raster> {
  return layers.length === 0 ? raster : rasterOf(open(raster).composite(layers));
}

export async function rasterOf(source: string | Sharp): Promise<Raster> {
  const image = typeof source === 'string' ? sharp(Buffer.from(source)) : source;
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

export function open({ data, width, height }: Raster): Sharp {
  return sharp(data, { raw: { width, height, channels: 4 } });
}

async function encoded(raster: Raster, { format, isTransparent, references }: ImagePiece): Promise<Buffer> {
  const isOpaque = !isTransparent && references.length === 0;
  const image =
    isOpaque || format === 'jpeg' ? open(raster).flatten({ background: '#fff' }).removeAlpha() : open(raster);
  switch (format) {
    case 'png':
      return image.png({ compressionLevel: 6 }).toBuffer();
    case 'jpeg':
      return image.jpeg({ quality: 88 }).toBuffer();
    case 'webp':
      return image.webp({ quality: 86, effort: 2 }).toBuffer();
  }
}

function rgba(color: string, alpha: number) {
  const at = (index: number) => Number.parseInt(mix(color, color, 0).slice(index, index + 2), 16);
  return { r: at(1), g: at(3), b: at(5), alpha };
}

import type { Sharp } from 'sharp';
import { digest } from '../random.ts';
import { drawCaption, drawScene, drawVeil, type Sketch } from './drawing.ts';
import type { ImagePiece, Made, Progress } from './piece.ts';
import { fitted, insetsOf, layer, marks, open, over, type Raster, rasterOf } from './raster.ts';

const DETAIL = { low: 0.5, medium: 1, high: 2 } as const;

export async function makePictures(piece: ImagePiece, progress: Progress): Promise<Made[]> {
  const outputs: Made[] = [];
  for (let index = 0; index < piece.count; index++) {
    const raster = await pictureOf(piece, index);
    outputs.push({ data: await encoded(raster, piece), isThumbnail: false });
    progress((index + 1) / piece.count);
  }
  return outputs;
}

async function pictureOf(piece: ImagePiece, index: number): Promise<Raster> {
  const { prompt, unwanted, quality, width, height, style, count, mask } = piece;
  const seed = piece.seed + index;
  const sketch = { prompt, unwanted, seed: String(seed), width, height, detail: DETAIL[quality] };
  const settings = [
    style,
    quality === 'medium' ? '' : `${quality} quality`,
    count > 1 ? `${index + 1} of ${count}` : '',
  ];
  const facts = [`${width} × ${height}`, `seed ${seed}`, ...settings.filter((fact) => fact !== '')].join(' · ');
  const caption = layer(drawCaption(sketch, prompt, facts));
  const [source] = piece.references;
  if (source === undefined) {
    const behind = piece.isTransparent ? 'nothing' : 'sky';
    const scene = await styled(piece, await rasterOf(drawScene({ ...sketch, behind })));
    return over(scene, [...marks(piece), caption]);
  }
  const original = await fitted(source, piece);
  if (mask !== null)
    return over(await changed(piece, original, mask, { ...sketch, behind: 'sky', facts }), marks(piece));
  const changes = [layer(drawVeil(sketch)), layer(drawScene({ ...sketch, behind: 'picture' }))];
  const edited = await styled(piece, await over(original, changes));
  return over(edited, [...(await insetsOf(piece.references.slice(1), piece)), ...marks(piece), caption]);
}

/** Only what the mask shows is drawn anew, as a scene of its own in the mask's bounds. */
async function changed(
  piece: ImagePiece,
  original: Raster,
  mask: string,
  sketch: Sketch & { facts: string },
): Promise<Raster> {
  const { data: change } = await fitted(mask, piece);
  const bounds = boundsOf(change, piece);
  if (bounds === undefined) return original;
  const area = { ...sketch, width: bounds.width, height: bounds.height };
  const scene = await styled(piece, await rasterOf(drawScene(area)));
  // In the middle, because the bounds of a round mask have corners outside of it.
  const inner = { width: Math.ceil(area.width * 0.7), height: Math.ceil(area.height * 0.8) };
  const place = { left: Math.floor(area.width * 0.15), top: Math.floor(area.height * 0.1) };
  const drawn = await over(scene, [{ ...layer(drawCaption(inner, piece.prompt, sketch.facts)), ...place }]);
  const data = Buffer.from(original.data);
  for (let y = 0; y < bounds.height; y++) {
    const row = ((y + bounds.top) * piece.width + bounds.left) * 4;
    for (let at = 0; at < bounds.width * 4; at++) {
      const before = data[row + at] ?? 0;
      const after = drawn.data[y * bounds.width * 4 + at] ?? 0;
      data[row + at] = Math.round(before + ((after - before) * (change[row + at - (at & 3)] ?? 0)) / 255);
    }
  }
  return { ...original, data };
}

/** The smallest rectangle with everything in it that is more white than black. */
function boundsOf(change: Buffer, { width, height }: ImagePiece) {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let pixel = 0; pixel < width * height; pixel++) {
    if ((change[pixel * 4] ?? 0) < 128) continue;
    const x = pixel % width;
    const y = (pixel - x) / width;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

const OUTLINE = { width: 3, height: 3, kernel: [1, 1, 1, 1, -8, 1, 1, 1, 1], scale: 1, offset: 255 };
// biome-ignore format: a table of styles
const STYLES: readonly (readonly [RegExp, (image: Sharp) => Sharp])[] = [
  [/vivid/, (image) => image.modulate({ saturation: 1.7, brightness: 1.04 })],
  [/natural|muted|soft/, (image) => image.modulate({ saturation: 0.6 })],
  [/noir|mono|black and white|grey|gray/, (image) => image.modulate({ saturation: 0 })],
  [/sketch|pencil|line|drawing/, (image) => image.removeAlpha().modulate({ saturation: 0 }).convolve(OUTLINE)],
  [/water|paint|impression/, (image) => image.median(9).modulate({ saturation: 1.2 })],
  [/sepia|vintage|retro/, (image) => image.modulate({ saturation: 0 }).tint('#c8965a')],
];

/** A style has its own look, or, if it is not known here, other colours. Low quality is coarse, and a pixel style more so. */
async function styled({ style, quality }: ImagePiece, raster: Raster): Promise<Raster> {
  const isBlocky = /pixel|8.?bit|block/i.test(style);
  const grain = isBlocky ? 16 : quality === 'low' ? 4 : 1;
  const { width, height } = raster;
  const small = await rasterOf(open(raster).resize(Math.ceil(width / grain), Math.ceil(height / grain)));
  const coarse = open(small).resize(width, height, { fit: 'fill', kernel: isBlocky ? 'nearest' : 'cubic' });
  const hue = 40 + (Number.parseInt(digest(style).slice(0, 4), 16) % 280);
  const other = (image: Sharp) => (style === '' || isBlocky ? image : image.modulate({ hue }));
  const [, look] = STYLES.find(([words]) => words.test(style.toLowerCase())) ?? [undefined, other];
  const { data } = await rasterOf(look(coarse));
  for (let at = 3; at < data.length; at += 4) data[at] = raster.data[at] ?? 255;
  return { data, width, height };
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

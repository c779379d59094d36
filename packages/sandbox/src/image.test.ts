import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { ApiError, UpstreamError } from '../../../src/errors.ts';
import type { ImageRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import {
  bytesOf,
  IMAGE,
  made,
  medium,
  order,
  pictureMedium,
  plainMedium,
  sandboxUpstream,
} from '../../../test/support/sandbox-media.ts';
import { FailureCounts } from './faults.ts';
import { imageKind } from './image.ts';
import { drawCaption } from './studio/drawing.ts';
import { write } from './studio/letters.ts';
import { readScene } from './studio/scene.ts';
import { Studio } from './studio/studio.ts';
import { taskWork } from './tasks.ts';

const work = taskWork(imageKind, new FailureCounts(), new Studio());

type Asked = Partial<ImageRequest<Media>>;

async function picturesOf(asked: Asked, count = 1): Promise<Buffer[]> {
  return bytesOf(await made(work, { ...IMAGE, ...asked }, count));
}

async function pictureOf(asked: Asked): Promise<Buffer> {
  const [picture] = await picturesOf(asked);
  assert.ok(picture);
  return picture;
}

/** The colour at a place, its parts from 0 to 1. */
async function colorAt(picture: Buffer, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const start = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * 4;
  return [...data.subarray(start, start + 4)];
}

const SIZES: readonly (readonly [asked: Asked, format: string, width: number, height: number])[] = [
  [{ size: undefined }, 'png', 1024, 1024],
  [{ size: 'auto' }, 'png', 1024, 1024],
  [{ size: '300x200', outputFormat: 'jpeg' }, 'jpeg', 300, 200],
  [{ size: '64x64', outputFormat: 'webp' }, 'webp', 64, 64],
  [{ size: undefined, aspectRatio: '16:9', outputFormat: 'webp' }, 'webp', 1024, 576],
  [{ size: undefined, aspectRatio: '2:3', outputFormat: 'jpeg' }, 'jpeg', 683, 1024],
  [{ size: undefined, resolution: '2k', aspectRatio: '4:1', outputFormat: 'jpeg' }, 'jpeg', 2048, 512],
];

for (const [asked, format, width, height] of SIZES) {
  const { size = 'no size', resolution = '1k', aspectRatio = '1:1' } = asked;
  test(`R-303 R-304 R-309: ${size}, ${resolution}, ${aspectRatio} is a ${format} of ${width} × ${height}`, async () => {
    const found = await sharp(await pictureOf(asked)).metadata();
    assert.deepEqual([found.format, found.width, found.height], [format, width, height]);
  });
}

const REFUSED: readonly (readonly [asked: Asked, field: string, allowed: Asked])[] = [
  [{ size: '4097x64' }, 'size', { size: '4096x64' }],
  [{ size: '63x64' }, 'size', { size: '64x64' }],
  [{ size: '1536x1024', resolution: '1k' }, 'resolution', { size: '1024x768', resolution: '1k' }],
  [{ size: 'large' }, 'size', { size: 'auto' }],
  [{ size: undefined, resolution: '8k' }, 'resolution', { size: undefined, resolution: '4k' }],
  [{ size: undefined, resolution: 'constructor' }, 'resolution', { size: undefined, resolution: '1k' }],
  [{ size: undefined, aspectRatio: '4.01:1' }, 'aspect_ratio', { size: undefined, aspectRatio: '4:1' }],
  [{ size: undefined, aspectRatio: '0:0' }, 'aspect_ratio', { size: undefined, aspectRatio: '1:4' }],
  [{ quality: 'ultra' }, 'quality', { quality: 'hd' }],
  [{ quality: 'constructor' }, 'quality', { quality: 'standard' }],
  [{ background: 'striped' }, 'background', { background: 'opaque' }],
  [{ background: 'transparent', outputFormat: 'jpeg' }, 'background', { background: 'transparent' }],
  [{ mask: medium(Buffer.from('mask')) }, 'mask', { mask: undefined }],
  [{ seed: 2 ** 52 + 1 }, 'seed', { seed: -(2 ** 52) }],
];

for (const [asked, field, allowed] of REFUSED) {
  test(`R-370: ${JSON.stringify(asked)} is refused by its field`, () => {
    const isNamed = (error: unknown) =>
      error instanceof ApiError && error.code === 'unsupported_parameter' && error.message.includes(`"${field}"`);
    assert.throws(() => work.check({ ...IMAGE, ...asked }, 'image'), isNamed);
    work.check({ ...IMAGE, ...allowed }, 'image');
  });
}

test('every letter that can be typed is drawn by strokes, each its own', () => {
  const sheet = { x: 0, y: 0, size: 12, widthMax: 1000, linesMax: 1, color: '#000' };
  const letters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const drawn = letters.map((letter) => write(letter, sheet).svg);
  assert.equal(new Set(drawn).size, letters.length);
  for (const svg of drawn) assert.match(svg, /d="M[^"]+"/);
  // Other scripts are numbers in boxes; every one its own too.
  assert.notEqual(write('日', sheet).svg, write('本', sheet).svg);
});

test('no drawing asks for a font', () => {
  assert.doesNotMatch(drawCaption({ width: 640, height: 360 }, 'Ein Schiff <text> & Meer', '640 × 360'), /<text|font/);
});

test('the prompt is written on the picture, larger in a small one', async () => {
  for (const [size, letters] of [
    ['128x128', 200],
    ['512x512', 1_500],
  ] as const) {
    const [said, silent] = [await pictureOf({ size, prompt: 'a red circle mmmmmm' }), await pictureOf({ size })];
    const [one, other] = [await sharp(said).raw().toBuffer(), await sharp(silent).raw().toBuffer()];
    const changed = one.filter((value, at) => Math.abs(value - (other[at] ?? 0)) > 60).length;
    assert.ok(changed > letters, `${changed} of ${one.length} at ${size}`);
  }
});

test('a text that is too long ends in three dots instead of leaving the picture', () => {
  const sheet = { x: 0, y: 0, size: 12, widthMax: 200, linesMax: 2, color: '#000' };
  const [long, endless] = [write('word '.repeat(500), sheet), write('w'.repeat(40_000), sheet)];
  assert.equal(long.height, write('one two three four five six', sheet).height);
  assert.equal(endless.height, long.height);
});

const SCENES: readonly (readonly [prompt: string, unwanted: string, things: string])[] = [
  ['a red boat on the sea at sunset', '', 'boat sea sun'],
  ['a toll gate at sunrise', '', 'gate sun'],
  ['three pine trees, two red houses and some butterflies', '', 'tree house'],
  ['a cat without a bird, no big trees', '', 'animal'],
  ['mountain, city and forest', 'trees, woods', 'mountain city'],
  ['a constructor and its toString', '', ''],
];

for (const [prompt, unwanted, things] of SCENES) {
  test(`“${prompt}” without “${unwanted}” shows: ${things || 'nothing in particular'}`, () => {
    const found = readScene(prompt, unwanted).things.map(({ name }) => name);
    assert.deepEqual(found.sort(), things.split(' ').filter(Boolean).sort());
  });
}

test('a colour and a number belong to the thing behind them', () => {
  const { things, tint } = readScene('three big red birds over a blue house in a purple mood', '');
  assert.deepEqual(
    things.map(({ name, color, count }) => [name, color, count]),
    [
      ['bird', '#e0342f', 3],
      ['house', '#2f6fe0', 1],
    ],
  );
  assert.equal(tint, '#8a3fd1');
});

test('the colour of the prompt is the colour in the picture', async () => {
  const [red = 0, , redsBlue = 0] = await colorAt(await pictureOf({ prompt: 'a red circle' }), 0.5, 0.45);
  assert.ok(red > 200 && redsBlue < 80);
  const [bluesRed = 0, , blue = 0] = await colorAt(await pictureOf({ prompt: 'a blue circle' }), 0.5, 0.45);
  assert.ok(blue > 200 && bluesRed < 80);
});

test('what is not wanted is not there', async () => {
  const [red = 0, green = 0] = await colorAt(await pictureOf({ negativePrompt: 'circles' }), 0.5, 0.45);
  assert.ok(red < 2 * green);
});

test('the same seed draws the same picture, another seed another one', async () => {
  const request = { ...IMAGE, prompt: 'a city' };
  const [one, again] = await Promise.all(
    ['one', 'two'].map(async (id) => {
      const studio = taskWork(imageKind, new FailureCounts(), new Studio());
      const { task } = await acceptedBy(studio, request, id);
      return task.piece;
    }),
  );
  assert.deepEqual(one, again);
  assert.notDeepEqual(await pictureOf(request), await pictureOf({ ...request, seed: 8 }));
});

async function acceptedBy(by: typeof work, request: ImageRequest<Media>, id: string, count = 1) {
  const submitted = await by.submit(request, order(id, count), sandboxUpstream());
  assert.ok(submitted.state === 'accepted');
  return submitted;
}

test('R-302: four pictures of one call are four different ones', async () => {
  const pictures = await picturesOf({ n: 4 }, 4);
  assert.equal(new Set(pictures.map((picture) => picture.toString('base64'))).size, 4);
});

test('R-302: ten pictures take three calls, and no two calls draw the same', async () => {
  assert.equal(work.perCall({ ...IMAGE, n: 10 }, 'image'), 4);
  const seeds = await Promise.all(
    ['first', 'second', 'third'].map(async (id) => {
      const piece = await imageKind.plan({ ...IMAGE, n: 10 }, order(id, 4));
      return piece.seed;
    }),
  );
  for (const [at, seed] of seeds.entries()) {
    assert.ok(seeds.every((other, index) => index === at || Math.abs(other - seed) >= 4));
  }
});

test('a transparent background shows nothing behind the figures; every other one is opaque', async () => {
  const clear = await pictureOf({ background: 'transparent' });
  assert.deepEqual((await colorAt(clear, 0.02, 0.02))[3], 0);
  assert.deepEqual((await colorAt(clear, 0.5, 0.45))[3], 255);
  assert.equal((await sharp(await pictureOf({})).metadata()).hasAlpha, false);
});

for (const asked of [
  { quality: 'low' },
  { quality: 'high' },
  { style: 'vivid' },
  { style: 'sketch' },
  { style: 'something of my own' },
  { style: 'pixel art' },
  { watermark: true },
]) {
  test(`${JSON.stringify(asked)} can be seen`, async () => {
    const pixels = async (own: Asked) =>
      sharp(await pictureOf({ prompt: 'a city', ...own }))
        .extract({ left: 0, top: 0, width: 128, height: 60 })
        .raw()
        .toBuffer();
    const [plain, other] = [await pixels({}), await pixels(asked)];
    assert.ok(plain.filter((value, at) => Math.abs(value - (other[at] ?? 0)) > 8).length > plain.length / 50);
  });
}

const HALVES = '<rect width="64" height="128" fill="#00a000"/><rect x="64" width="64" height="128" fill="#0000c0"/>';

test('R-327: an edit shows the picture that it began with, and is another one', async () => {
  const source = await pictureMedium(HALVES);
  const result = await pictureOf({ referenceImages: [source], prompt: 'make it warm' });
  const [left, right] = [await colorAt(result, 0.02, 0.3), await colorAt(result, 0.97, 0.3)];
  assert.ok((left[1] ?? 0) > (left[2] ?? 0) + 30, `green on the left: ${left.join()}`);
  assert.ok((right[2] ?? 0) > (right[1] ?? 0) + 30, `blue on the right: ${right.join()}`);
  assert.notDeepEqual(left.slice(0, 3), [0, 160, 0]);
});

test('R-327: an edit without a size keeps the shape of its picture', async () => {
  const source = await plainMedium('#345678', 300, 200);
  const { width, height } = await sharp(await pictureOf({ referenceImages: [source], size: undefined })).metadata();
  assert.deepEqual([width, height], [1024, 683]);
});

const SQUARE = 'M32 32H96V96H32Z';
const MASKS = [
  ['transparent', `<path fill-rule="evenodd" d="M0 0H128V128H0Z${SQUARE}" fill="#000"/>`],
  ['white on black', `<rect width="128" height="128" fill="#000"/><path d="${SQUARE}" fill="#fff"/>`],
] as const;

for (const [kind, drawing] of MASKS) {
  test(`R-330: a mask (${kind}) lets change what it shows and nothing else`, async () => {
    const [source, mask] = [await pictureMedium(HALVES), await pictureMedium(drawing)];
    const result = await pictureOf({ referenceImages: [source], mask, prompt: 'snow at night' });
    const [before, after] = [
      await sharp(await source.read())
        .ensureAlpha()
        .raw()
        .toBuffer(),
      await sharp(result).ensureAlpha().raw().toBuffer(),
    ];
    let [inside, changedInside, changedOutside] = [0, 0, 0];
    for (let pixel = 0; pixel < 128 * 128; pixel++) {
      const [x, y] = [pixel % 128, Math.floor(pixel / 128)];
      const isInside = x >= 34 && x < 94 && y >= 34 && y < 94;
      const isOutside = x < 30 || x >= 98 || y < 30 || y >= 98;
      const difference = [0, 1, 2].reduce(
        (sum, at) => sum + Math.abs((before[pixel * 4 + at] ?? 0) - (after[pixel * 4 + at] ?? 0)),
        0,
      );
      if (isInside) inside++;
      if (isInside && difference > 30) changedInside++;
      if (isOutside && difference > 0) changedOutside++;
    }
    assert.equal(changedOutside, 0);
    assert.ok(changedInside > inside * 0.8, `${changedInside} of ${inside}`);
  });
}

test('many large pictures travel in a task of bounded size', async () => {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const photo = sharp({ create: { width: 1200, height: 800, channels: 3, background: '#888', noise } });
  const [source, mask] = [medium(await photo.png().toBuffer()), medium(await photo.threshold(128).png().toBuffer())];
  for (const count of [1, 16]) {
    const referenceImages = Array.from({ length: count }, () => source);
    const piece = await imageKind.plan({ ...IMAGE, referenceImages, mask }, order('large'));
    const { length } = JSON.stringify(piece);
    assert.ok(length < 250_000, `${count}: ${length}`);
  }
});

test('bytes that only begin as a picture are refused for good', async () => {
  const broken = medium(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  const isClient = (error: unknown) => error instanceof UpstreamError && error.fault === 'client';
  await assert.rejects(imageKind.plan({ ...IMAGE, referenceImages: [broken] }, order('broken')), isClient);
  const mask = { referenceImages: [await plainMedium('#fff')], mask: broken };
  await assert.rejects(imageKind.plan({ ...IMAGE, ...mask }, order('broken')), isClient);
});

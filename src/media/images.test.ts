import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import sharp, { type Sharp } from 'sharp';
import { riffChunk, watched } from '../../test/support/media-bytes.ts';
import { type PictureFormat, picture } from '../../test/support/media-samples.ts';
import { IMAGE_PIXELS_MAX, IMAGE_SIDE_PIXELS_MAX } from '../limits.ts';
import { byteSourceOf, type Measured, measure, sniff, Unreadable } from './index.ts';

const FORMATS: readonly PictureFormat[] = ['png', 'jpeg', 'webp', 'webp-lossless', 'webp-alpha'];

function sized(file: Buffer): Promise<Measured> {
  const sniffed = sniff(file);
  assert.ok(sniffed !== undefined);
  return measure(byteSourceOf(file), sniffed);
}

for (const format of FORMATS) {
  test(`R-239: the sides of a ${format} are those it was made with`, async () => {
    for (const [width, height] of [
      [1, 1],
      [321, 123],
      [2048, 16],
    ] as const) {
      assert.deepEqual(await sized(await picture(format, { width, height })), { width, height });
    }
  });

  test(`a ${format} that is cut anywhere is unreadable`, async () => {
    const file = await picture(format, { width: 64, height: 64 });
    for (let length = 16; length < file.length; length++)
      await assert.rejects(sized(file.subarray(0, length)), Unreadable);
  });

  test(`what stands behind a ${format} does not matter, be it more than is read at once`, async () => {
    const file = await picture(format, { width: 64, height: 48 });
    for (const length of [1, 2, 300_000]) {
      assert.deepEqual(await sized(Buffer.concat([file, Buffer.alloc(length, 0x50)])), { width: 64, height: 48 });
    }
  });
}

const kinds: readonly [name: string, make: () => Promise<Buffer>][] = [
  ['a progressive JPEG', () => noise().jpeg({ progressive: true }).toBuffer()],
  ['a JPEG with notes and a colour profile', () => noise().withMetadata({ icc: 'p3', density: 300 }).jpeg().toBuffer()],
  ['a grey JPEG', () => noise().greyscale().jpeg().toBuffer()],
  ['an interlaced PNG', () => noise().png({ progressive: true }).toBuffer()],
  ['a PNG of few colours', () => noise().png({ palette: true }).toBuffer()],
  ['a PNG with a colour profile', () => noise().withMetadata({ icc: 'p3' }).png().toBuffer()],
  ['a WebP with a colour profile', () => noise().withMetadata({ icc: 'p3' }).webp().toBuffer()],
  ['a WebP that moves', moving],
];

for (const [name, make] of kinds) {
  test(`${name} tells its sides`, async () => {
    assert.deepEqual(await sized(await make()), { width: 600, height: 400 });
  });
}

test('an image of many megabytes is read at its two ends only', async () => {
  const file = await sharp({ create: { ...PLAIN, width: 2000, height: 2000, noise: NOISE } })
    .png()
    .toBuffer();
  assert.ok(file.length > 4_000_000);
  const media = watched(byteSourceOf(file));
  const sniffed = sniff(file);
  assert.ok(sniffed !== undefined);
  await measure(media, sniffed);
  assert.ok(media.reads.length <= 3);
});

/** Writes other sides into the header of a real file. */
const resized: readonly [format: PictureFormat, write: (file: Buffer, width: number, height: number) => unknown][] = [
  ['png', (file, width, height) => [file.writeUInt32BE(width, 16), file.writeUInt32BE(height, 20)]],
  [
    'jpeg',
    (file, width, height) => {
      const frame = file.indexOf(Buffer.from('ffc0', 'hex'));
      file.writeUInt16BE(height, frame + 5);
      file.writeUInt16BE(width, frame + 7);
    },
  ],
  ['webp-alpha', (file, width, height) => [file.writeUIntLE(width - 1, 24, 3), file.writeUIntLE(height - 1, 27, 3)]],
];

for (const [format, write] of resized) {
  test(`R-326: a ${format} may announce the longest side and the most pixels, and not one more`, async () => {
    const announce = async (width: number, height: number) => {
      const file = await picture(format, { width: 8, height: 8 });
      write(file, width, height);
      return sized(file);
    };
    const side = IMAGE_SIDE_PIXELS_MAX;
    assert.equal(IMAGE_PIXELS_MAX, 10_000 * 10_000);
    assert.deepEqual(await announce(side, 1), { width: side, height: 1 });
    assert.deepEqual(await announce(1, side), { width: 1, height: side });
    assert.deepEqual(await announce(10_000, 10_000), { width: 10_000, height: 10_000 });
    await assert.rejects(announce(side + 1, 1), Unreadable);
    await assert.rejects(announce(1, side + 1), Unreadable);
    await assert.rejects(announce(10_000, 10_001), Unreadable);
    await assert.rejects(announce(side, side), Unreadable);
  });
}

test('an image without sides is unreadable', async () => {
  const png = await picture('png', { width: 8, height: 8 });
  png.writeUInt32BE(0, 16);
  await assert.rejects(sized(png), Unreadable);
  const jpeg = await picture('jpeg', { width: 8, height: 8 });
  jpeg.writeUInt16BE(0, jpeg.indexOf(Buffer.from('ffc0', 'hex')) + 5);
  await assert.rejects(sized(jpeg), Unreadable);
});

test('an image with a header and no content is unreadable', async () => {
  const png = await picture('png', { width: 8, height: 8 });
  await assert.rejects(sized(Buffer.concat([png.subarray(0, 33), png.subarray(-12)])), Unreadable);
  const jpeg = await picture('jpeg', { width: 8, height: 8 });
  const scan = jpeg.indexOf(Buffer.from('ffda', 'hex'));
  await assert.rejects(sized(Buffer.concat([jpeg.subarray(0, scan), jpeg.subarray(-2)])), Unreadable);
  const extended = riffChunk('VP8X', Buffer.alloc(10));
  const webp = Buffer.concat([Buffer.from('WEBP'), extended, riffChunk('EXIF', Buffer.alloc(20))]);
  await assert.rejects(sized(riffChunk('RIFF', webp)), Unreadable);
});

test('a broken image is measured or unreadable, and nothing else', async () => {
  const files = await Promise.all(FORMATS.map((format) => picture(format, { width: 64, height: 48 })));
  const broken = fc.record({
    file: fc.constantFrom(...files),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    byte: fc.nat(255),
  });
  await fc.assert(
    fc.asyncProperty(broken, async ({ file, at, byte }) => {
      const copy = Buffer.from(file);
      copy[Math.floor(at * (copy.length - 1))] = byte;
      const sniffed = sniff(file);
      assert.ok(sniffed !== undefined);
      await measure(byteSourceOf(copy), sniffed).then(
        ({ width = 0, height = 0 }) => assert.ok(width * height > 0 && width * height <= IMAGE_PIXELS_MAX),
        (error: unknown) => assert.ok(error instanceof Unreadable),
      );
    }),
    { numRuns: 2000 },
  );
});

const PLAIN = { channels: 3, background: '#808080' } as const;
const NOISE = { type: 'gaussian', mean: 128, sigma: 60 } as const;

function noise(): Sharp {
  return sharp({ create: { ...PLAIN, width: 600, height: 400, noise: NOISE } });
}

async function moving(): Promise<Buffer> {
  const frames = await Promise.all([0, 1, 2].map(() => noise().png().toBuffer()));
  return sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [100, 100, 100] })
    .toBuffer();
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import sharp from 'sharp';
import { ApiError } from '../../../src/errors.ts';
import type { VideoRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import { bytesOf, made, medium, order, plainMedium, VIDEO } from '../../../test/support/sandbox-media.ts';
import { FailureCounts } from './faults.ts';
import { filmOf, frameOf } from './studio/clip.ts';
import type { VideoPiece } from './studio/piece.ts';
import { Studio } from './studio/studio.ts';
import { taskWork } from './tasks.ts';
import { videoKind } from './video.ts';

const work = taskWork(videoKind, new FailureCounts(), new Studio());

type Asked = Partial<VideoRequest<Media>>;

async function clipOf(asked: Asked) {
  const [clip, thumbnail, ...more] = bytesOf(await made(work, { ...VIDEO, ...asked }));
  assert.ok(clip && thumbnail && more.length === 0);
  const input = new Input({ source: new BufferSource(clip), formats: ALL_FORMATS });
  const [picture, sound] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  assert.ok(picture);
  const kinds: string[] = [];
  for await (const packet of new EncodedPacketSink(picture).packets()) kinds.push(packet.type);
  return { clip, thumbnail, input, picture, sound, kinds };
}

async function pieceOf(asked: Asked): Promise<VideoPiece> {
  const piece = await videoKind.plan({ ...VIDEO, ...asked }, order('plan'));
  assert.ok(piece.kind === 'video');
  return piece;
}

test('a clip is an MP4 with H.264 that plays while it loads, and its thumbnail is a JPEG', async () => {
  const { clip, input, picture, kinds, thumbnail } = await clipOf({});
  assert.equal((await input.getMimeType()).split(';')[0], 'video/mp4');
  assert.equal(await picture.getCodec(), 'avc');
  assert.deepEqual([await picture.getDisplayWidth(), await picture.getDisplayHeight()], [128, 128]);
  assert.equal(kinds.length, 12);
  assert.ok(clip.indexOf('moov') < clip.indexOf('mdat'));
  assert.equal((await sharp(thumbnail).metadata()).format, 'jpeg');
});

const LENGTHS: readonly (readonly [seconds: number | undefined, fps: number | undefined, frames: number])[] = [
  [1.37, 24, 33],
  [0.01, 24, 1],
  [2.5, 10, 25],
  [9, 4, 36],
  [undefined, undefined, 96],
  [0, 24, 96],
];

for (const [seconds, fps, frames] of LENGTHS) {
  test(`R-372: ${seconds ?? 'no'} seconds at ${fps ?? 'no'} frames are ${frames} frames`, async () => {
    const { input, kinds } = await clipOf({ seconds, fps, size: '64x64' });
    assert.equal(kinds.length, frames);
    const length = await input.computeDuration();
    assert.ok(Math.abs(length - frames / (fps ?? 24)) < 0.001, `${length}`);
  });
}

test('a long clip repeats its loop, and every round begins with a key frame', async () => {
  const { kinds } = await clipOf({ seconds: 9, fps: 4, size: '64x64' });
  const keys = kinds.flatMap((kind, at) => (kind === 'key' ? [at] : []));
  assert.deepEqual(keys, [0, 16, 32]);
});

test('R-355: with sound there is a second track that is no longer than the pictures', async () => {
  const { sound, input } = await clipOf({ generateAudio: true, seconds: 2 });
  assert.ok(sound);
  assert.equal(await sound.getCodec(), 'aac');
  const length = await sound.computeDuration();
  assert.ok(length <= 2 && length > 1.9, `${length}`);
  assert.equal(await input.computeDuration(), 2);
  assert.equal((await clipOf({})).sound, null);
});

const SHAPES: readonly (readonly [asked: Asked, width: number, height: number])[] = [
  [{}, 1280, 720],
  [{ resolution: '480p' }, 854, 480],
  [{ resolution: '480p', aspectRatio: '9:16' }, 480, 854],
  [{ resolution: '1080p' }, 1920, 1080],
  [{ resolution: '720p', aspectRatio: '1:1' }, 720, 720],
  [{ size: '640x360' }, 640, 360],
  [{ size: '480x854', resolution: '480p' }, 480, 854],
];

for (const [asked, width, height] of SHAPES) {
  test(`R-350 R-351 R-352: ${JSON.stringify(asked)} is ${width} × ${height}`, async () => {
    const piece = await pieceOf({ size: undefined, ...asked });
    assert.deepEqual([piece.width, piece.height], [width, height]);
  });
}

const REFUSED: readonly (readonly [asked: Asked, field: string, allowed: Asked])[] = [
  [{ seconds: 60.01 }, 'seconds', { seconds: 60 }],
  [{ fps: 61 }, 'fps', { fps: 60 }],
  [{ fps: 0 }, 'fps', { fps: 1 }],
  [{ size: '1922x1080' }, 'size', { size: '1920x1088' }],
  [{ size: '1920x1090' }, 'size', { size: '1088x1920' }],
  [{ size: '129x128' }, 'size', { size: '130x128' }],
  [{ size: '640x360', resolution: '1080p' }, 'resolution', { size: '1080x1920', resolution: '1080p' }],
  [{ size: undefined, resolution: '4k' }, 'resolution', { size: undefined, resolution: '1080p' }],
  [
    { size: undefined, resolution: '1080p', aspectRatio: '2:1' },
    'aspect_ratio',
    { size: undefined, resolution: '720p', aspectRatio: '2:1' },
  ],
];

for (const [asked, field, allowed] of REFUSED) {
  test(`R-370: ${JSON.stringify(asked)} is refused by its field`, () => {
    const isNamed = (error: unknown) =>
      error instanceof ApiError && error.code === 'unsupported_parameter' && error.message.includes(`"${field}"`);
    assert.throws(() => work.check({ ...VIDEO, ...asked }, 'video'), isNamed);
    work.check({ ...VIDEO, ...allowed }, 'video');
  });
}

const GREEN = [0, 160, 0] as const;
const PURPLE = [160, 0, 160] as const;

/** How far each pixel's colour is from a plain one, on average. */
function distance(data: Buffer, color: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < data.length; at++) if (at % 4 < 3) sum += Math.abs((data[at] ?? 0) - (color[at % 4] ?? 0));
  return sum / ((data.length / 4) * 3);
}

test('R-359 R-360: the first frame is the beginning and the last frame the end, to the pixel', async () => {
  const [firstFrame, lastFrame] = [await plainMedium('#00a000'), await plainMedium('#a000a0')];
  const film = await filmOf(await pieceOf({ firstFrame, lastFrame }));
  assert.equal(distance((await frameOf(film, 0)).data, GREEN), 0);
  assert.equal(distance((await frameOf(film, 11)).data, PURPLE), 0);
  const middle = (await frameOf(film, 6)).data;
  assert.ok(distance(middle, GREEN) > 30 && distance(middle, PURPLE) > 30);
});

test('R-356 R-367: a reference is shown beside the scene and is never a frame', async () => {
  const inputReference = await plainMedium('#00a000');
  const piece = await pieceOf({ inputReference, referenceImages: [await plainMedium('#a000a0')] });
  const film = await filmOf(piece);
  for (const at of [0, 6, 11]) {
    const { data } = await frameOf(film, at);
    assert.ok(distance(data, GREEN) > 30 && distance(data, PURPLE) > 30);
    const colors = new Set(
      Array.from({ length: 128 * 64 }, (_, pixel) => data.subarray(pixel * 4, pixel * 4 + 3).join()),
    );
    assert.ok(colors.has(GREEN.join()) && colors.has(PURPLE.join()));
  }
});

test('the thumbnail of a clip is its first frame', async () => {
  const { thumbnail } = await clipOf({ firstFrame: await plainMedium('#00a000') });
  const { data } = await sharp(thumbnail).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  assert.ok(distance(data, GREEN) < 4);
});

test('a first frame gives its shape to a clip that is asked for none', async () => {
  const shapes = [
    await plainMedium('#123456', 90, 160),
    await plainMedium('#123456', 100, 100),
    await plainMedium('#123456', 1000, 100),
  ];
  const sizes = await Promise.all(
    shapes.map(async (firstFrame) => {
      const piece = await pieceOf({ firstFrame, size: undefined, resolution: '1080p' });
      return `${piece.width}x${piece.height}`;
    }),
  );
  assert.deepEqual(sizes, ['1080x1920', '1080x1080', '1920x1080']);
});

test('the scene moves, and goes round without a jump; a fixed camera moves less', async () => {
  const difference = async (asked: Asked, one: number, other: number) => {
    const film = await filmOf(await pieceOf({ seconds: 8, ...asked }));
    const [left, right] = [(await frameOf(film, one)).data, (await frameOf(film, other)).data];
    return left.reduce((sum, value, at) => sum + Math.abs(value - (right[at] ?? 0)), 0);
  };
  const step = await difference({}, 0, 1);
  assert.ok(step > 0);
  assert.equal(await difference({}, 3, 3 + 48), 0);
  assert.ok((await difference({}, 47, 48)) < 3 * step);
  assert.ok((await difference({ cameraFixed: true }, 0, 12)) < (await difference({}, 0, 12)));
});

test('clips and sounds that come with a request are told of, and none is read', async () => {
  const unread: Media = { ...medium(Buffer.alloc(0)), read: () => Promise.reject(new Error('read')) };
  const piece = await pieceOf({ sourceVideo: unread, referenceVideos: [unread, unread], referenceAudios: [unread] });
  assert.deepEqual(piece.notes, ['from a video', '2 reference videos', '1 reference sounds']);
});

test('one call makes one clip', () => {
  assert.equal(work.perCall(VIDEO, 'video'), 1);
});

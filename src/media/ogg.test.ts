import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes } from '../../test/support/media-bytes.ts';
import { type ToneFormat, toneAs } from '../../test/support/media-samples.ts';
import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { byteSourceOf, measure, type Sniffed, Unreadable } from './index.ts';

const OGG: Sniffed = { kind: 'audio', mimeType: 'audio/ogg', extension: 'ogg' };
const FORMATS: readonly ToneFormat[] = ['ogg-vorbis', 'ogg-opus'];

async function secondsOf(file: Buffer): Promise<number> {
  return (await measure(byteSourceOf(file), OGG)).seconds ?? 0;
}

for (const format of FORMATS) {
  test(`R-415: ${format} is as long as its samples`, async () => {
    for (const seconds of [0.1, 1, 3.21]) assert.equal(await secondsOf(await toneAs(format, { seconds })), seconds);
  });

  test(`${format} that is cut within a page is unreadable`, async () => {
    const file = await toneAs(format, { seconds: 0.5 });
    const ends = new Set(pagesOf(file).map(({ end }) => end));
    for (let length = 0; length < file.length; length += 13) {
      if (!ends.has(length)) await assert.rejects(secondsOf(file.subarray(0, length)), Unreadable);
    }
  });

  test(`${format} without its last pages is as long as what is left`, async () => {
    const file = await toneAs(format, { seconds: 5 });
    const kept = file.subarray(0, pagesOf(file).at(-2)?.end);
    const seconds = await secondsOf(kept);
    assert.ok(seconds > 0 && seconds < 5);
  });

  test(`${format} recorded from a broadcast is as long as the recording`, async () => {
    const file = await toneAs(format, { seconds: 5 });
    const late = Buffer.from(file);
    const hour = 3600 * 48_000;
    for (const { start } of pagesOf(late)) {
      const sample = late.readUInt32LE(start + 6);
      if (sample > 0) late.writeUInt32LE(sample + hour, start + 6);
    }
    // Of Vorbis it is not known how much of the first page is short blocks.
    const difference = Math.abs((await secondsOf(late)) - 5);
    assert.ok(difference <= (format === 'ogg-opus' ? 1e-9 : 0.25), `${difference}`);
  });
}

test('files written one behind the other are as long as all of them', async () => {
  const files = await Promise.all(FORMATS.map((format) => toneAs(format, { seconds: 1.5 })));
  assert.equal(await secondsOf(Buffer.concat([...files, ...files])), 6);
});

test('of streams that run at the same time the longest counts', async () => {
  const [long = [], short = []] = await Promise.all(
    [2, 1].map(async (seconds) => {
      const file = await toneAs('ogg-opus', { seconds });
      return pagesOf(file).map(({ start, end }) => Buffer.from(file.subarray(start, end)));
    }),
  );
  for (const page of short) page.writeUInt32LE(12_345, 14);
  const mixed = [...long.slice(0, 1), ...short.slice(0, 1), ...long.slice(1), ...short.slice(1)];
  assert.equal(await secondsOf(Buffer.concat(mixed)), 2);
});

test('a page that ends no packet does not tell the time', async () => {
  const file = await toneAs('ogg-opus', { seconds: 1 });
  const page = Buffer.concat([
    bytes('4f676753 00 00 ffffffffffffffff'),
    file.subarray(14, 18),
    Buffer.alloc(8),
    bytes('01 ff'),
    Buffer.alloc(255),
  ]);
  const [head, tags] = pagesOf(file);
  const mixed = Buffer.concat([file.subarray(0, tags?.end), page, file.subarray(tags?.end)]);
  assert.ok(head !== undefined);
  assert.equal(await secondsOf(mixed), 1);
});

test('at most so many streams begin together', async () => {
  const file = await toneAs('ogg-opus', { seconds: 1 });
  const first = file.subarray(0, pagesOf(file)[0]?.end);
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const page = Buffer.from(first);
      page.writeUInt32LE(index + 1, 14);
      return page;
    });
  assert.equal(file.readUInt32LE(14) > MEDIA_TRACKS_MAX || file.readUInt32LE(14) === 0, true);
  assert.equal(await secondsOf(Buffer.concat([...others(MEDIA_TRACKS_MAX - 1), file])), 1);
  await assert.rejects(secondsOf(Buffer.concat([...others(MEDIA_TRACKS_MAX), file])), Unreadable);
});

test('what is no page, holds no sound or states no rate is unreadable', async () => {
  const file = await toneAs('ogg-vorbis', { seconds: 1 });
  const pages = pagesOf(file);
  await assert.rejects(secondsOf(Buffer.concat([file, Buffer.from('hello')])), Unreadable);
  await assert.rejects(secondsOf(Buffer.concat([file, Buffer.alloc(100)])), Unreadable);
  await assert.rejects(secondsOf(file.subarray(0, pages[0]?.end)), Unreadable);
  const noRate = Buffer.from(file);
  noRate.writeUInt32LE(0, 28 + 12);
  await assert.rejects(secondsOf(noRate), Unreadable);
});

function pagesOf(file: Buffer): { start: number; end: number }[] {
  const pages: { start: number; end: number }[] = [];
  for (let start = 0; start < file.length; ) {
    const segments = file.subarray(start + 27, start + 27 + file.readUInt8(start + 26));
    const end = start + 27 + segments.length + segments.reduce((sum, bytes) => sum + bytes, 0);
    pages.push({ start, end });
    start = end;
  }
  return pages;
}

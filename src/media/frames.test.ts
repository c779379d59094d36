import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes } from '../../test/support/media-bytes.ts';
import { toneAs } from '../../test/support/media-samples.ts';
import { MEDIA_GAPS_MAX, MEDIA_JUNK_BYTES_MAX } from '../limits.ts';
import { byteSourceOf, measure, type Sniffed, Unreadable } from './index.ts';

const MP3: Sniffed = { kind: 'audio', mimeType: 'audio/mpeg', extension: 'mp3' };
const AAC: Sniffed = { kind: 'audio', mimeType: 'audio/aac', extension: 'aac' };

async function secondsOf(file: Buffer, sniffed = MP3): Promise<number | undefined> {
  return (await measure(byteSourceOf(file), sniffed)).seconds;
}

/** MPEG-1 layer III, 32 000 samples a second, 32 kbit/s, mono: 144 bytes and 0.036 seconds. */
function frame(content: Buffer = Buffer.alloc(0)): Buffer {
  const whole = Buffer.alloc(144);
  bytes('fffb 18c0').copy(whole);
  content.copy(whole, 4);
  return whole;
}

const frames = (count: number) => Buffer.concat(Array.from({ length: count }, () => frame()));
const FRAME_SECONDS = 1152 / 32_000;

function sameLength(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);
}

test('R-415: an MP3 is as long as its frames, at every rate', async () => {
  for (const sampleRate of [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]) {
    const file = await toneAs('mp3', { seconds: 1.3, sampleRate, channels: 2 });
    const seconds = (await secondsOf(file)) ?? 0;
    const frameSeconds = (sampleRate >= 32_000 ? 1152 : 576) / sampleRate;
    // The encoder puts up to some frames around what it is given, and only whole ones.
    assert.ok(seconds >= 1.3 && seconds < 1.3 + 4 * frameSeconds, `${seconds} at ${sampleRate}`);
    sameLength(Math.round(seconds / frameSeconds) * frameSeconds, seconds);
  }
});

test('R-415: AAC is as long as its frames', async () => {
  for (const sampleRate of [16_000, 44_100, 48_000]) {
    const file = await toneAs('aac', { seconds: 1.3, sampleRate });
    const seconds = (await secondsOf(file, AAC)) ?? 0;
    assert.ok(seconds >= 1.3 && seconds < 1.3 + (3 * 1024) / sampleRate, `${seconds} at ${sampleRate}`);
    sameLength((Math.round((seconds * sampleRate) / 1024) * 1024) / sampleRate, seconds);
  }
});

test('layer II is counted like layer III', async () => {
  const whole = Buffer.alloc(144);
  bytes('fffd 18c0').copy(whole);
  sameLength(await secondsOf(Buffer.concat([whole, whole, whole])), 3 * FRAME_SECONDS);
});

/** A first frame that holds a header in place of sound. */
function stating(name: string, count: number, more: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(120);
  head.write(name, 0, 'latin1');
  head.writeUInt32BE(1, 4);
  head.writeUInt32BE(count, 8);
  more.copy(head, 12);
  return frame(Buffer.concat([Buffer.alloc(17), head]));
}

/** What an encoder of this name put before and behind the sound. */
function padding(name: string, before: number, behind: number): Buffer {
  const more = Buffer.alloc(24);
  more.write(name, 0, 'latin1');
  more.writeUIntBE(before * 4096 + behind, 21, 3);
  return more;
}

test('a header in the first frame is no sound', async () => {
  sameLength(await secondsOf(Buffer.concat([stating('Xing', 10), frames(10)])), 10 * FRAME_SECONDS);
  sameLength(await secondsOf(Buffer.concat([stating('Info', 10), frames(10)])), 10 * FRAME_SECONDS);
  const vbri = frame(
    Buffer.concat([Buffer.alloc(32), Buffer.from('VBRI'), Buffer.alloc(10), Buffer.from([0, 0, 0, 10])]),
  );
  sameLength(await secondsOf(Buffer.concat([vbri, frames(10)])), 10 * FRAME_SECONDS);
});

test('what the encoder put around the sound is taken off, as far as it says so', async () => {
  for (const name of ['LAME3.100', 'Lavc60.3', 'Lavf60.1']) {
    const file = Buffer.concat([stating('Info', 10, padding(name, 576, 1000)), frames(10)]);
    sameLength(await secondsOf(file), (10 * 1152 - 1576) / 32_000);
  }
  const unknown = Buffer.concat([stating('Info', 10, padding('Other', 576, 1000)), frames(10)]);
  sameLength(await secondsOf(unknown), 10 * FRAME_SECONDS);
});

test('a header that states too few frames is not believed', async () => {
  const file = Buffer.concat([stating('Xing', 1, padding('LAME3.100', 576, 1000)), frames(100)]);
  sameLength(await secondsOf(file), 100 * FRAME_SECONDS);
});

test('an MP3 that has fewer frames than it states is unreadable, but for the one that states it', async () => {
  sameLength(await secondsOf(Buffer.concat([stating('Xing', 11), frames(10)])), 10 * FRAME_SECONDS);
  await assert.rejects(secondsOf(Buffer.concat([stating('Xing', 12), frames(10)])), Unreadable);
});

function id3(content: Buffer, hasFooter = false): Buffer {
  const head = bytes(`494433 0400 ${hasFooter ? '10' : '00'} 00000000`);
  for (const place of [0, 1, 2, 3]) head[6 + place] = (content.length >> (7 * (3 - place))) & 0x7f;
  return Buffer.concat([head, content, hasFooter ? Buffer.alloc(10) : Buffer.alloc(0)]);
}

function ape(content: Buffer, hasHeader: boolean): Buffer {
  const footer = Buffer.alloc(32);
  footer.write('APETAGEX', 0, 'latin1');
  footer.writeUInt32LE(content.length + 32, 12);
  footer.writeUInt32LE(hasHeader ? 0x8000_0000 : 0, 20);
  return Buffer.concat([hasHeader ? footer : Buffer.alloc(0), content, footer]);
}

const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125, 0x20)]);

/** Larger than what is passed over of anything else, and without a frame. */
const picture = Buffer.alloc(2 * MEDIA_JUNK_BYTES_MAX, 0x5f);

test('tags around and between frames are passed over', async () => {
  const lure = frames(700);
  const files = [
    Buffer.concat([id3(lure), frames(10)]),
    Buffer.concat([id3(lure, true), id3(Buffer.alloc(5)), frames(10)]),
    Buffer.concat([id3(Buffer.alloc(2)), Buffer.alloc(500), frames(10)]),
    Buffer.concat([frames(10), id3v1]),
    Buffer.concat([frames(10), ape(picture, false), id3v1]),
    Buffer.concat([frames(10), ape(picture, true)]),
    Buffer.concat([frames(4), id3v1, id3(picture), frames(6)]),
    Buffer.concat([frames(4), ape(picture, true), id3v1, frames(6)]),
  ];
  for (const file of files) sameLength(await secondsOf(file), 10 * FRAME_SECONDS);
  const aac = await toneAs('aac', { seconds: 0.5 });
  const tagged = Buffer.concat([id3(lure), aac, ape(picture, true), id3v1]);
  assert.equal(await secondsOf(tagged, AAC), await secondsOf(aac, AAC));
});

test('frames that a tag hides are counted, unless every decoder passes over the tag in front', async () => {
  const hidden = frames(700);
  const files = [
    Buffer.concat([frames(10), ape(hidden, false)]),
    Buffer.concat([frames(10), ape(hidden, false), id3v1]),
    Buffer.concat([frames(10), ape(hidden, true)]),
    Buffer.concat([frames(4), id3(hidden), frames(6)]),
    Buffer.concat([frames(4), id3v1, ape(hidden, true), id3v1, frames(6)]),
    Buffer.concat([id3(Buffer.alloc(9)), ape(hidden, true), frames(10)]),
    Buffer.concat([frames(10), ape(Buffer.concat([picture, hidden, picture]), true)]),
  ];
  for (const file of files) sameLength(await secondsOf(file), 710 * FRAME_SECONDS);
});

test('frames that stand alone between other bytes are counted', async () => {
  const apart = Buffer.concat(Array.from({ length: 300 }, () => Buffer.concat([frames(1), Buffer.alloc(1)])));
  sameLength(await secondsOf(Buffer.concat([frames(5), apart, frames(5)])), 310 * FRAME_SECONDS);
});

test('frames of several rates add up', async () => {
  const files = await Promise.all([16_000, 48_000].map((sampleRate) => toneAs('mp3', { seconds: 0.5, sampleRate })));
  const lengths = await Promise.all(files.map((file) => secondsOf(file)));
  sameLength(await secondsOf(Buffer.concat(files)), (lengths[0] ?? 0) + (lengths[1] ?? 0));
});

test('a last frame that is cut off is not counted', async () => {
  sameLength(await secondsOf(Buffer.concat([frames(10), frame().subarray(0, 143)])), 10 * FRAME_SECONDS);
  sameLength(await secondsOf(frames(1)), FRAME_SECONDS);
});

test('anything between frames is passed over up to a length, and not one byte more', async () => {
  const apart = (length: number) => Buffer.concat([frames(5), Buffer.alloc(length, 0xff), frames(5)]);
  sameLength(await secondsOf(apart(MEDIA_JUNK_BYTES_MAX)), 10 * FRAME_SECONDS);
  await assert.rejects(secondsOf(apart(MEDIA_JUNK_BYTES_MAX + 1)), Unreadable);
  const behind = (length: number) => Buffer.concat([frames(5), Buffer.alloc(length)]);
  sameLength(await secondsOf(behind(MEDIA_JUNK_BYTES_MAX + 1)), 5 * FRAME_SECONDS);
  await assert.rejects(secondsOf(behind(MEDIA_JUNK_BYTES_MAX + 2)), Unreadable);
});

test('anything between frames is passed over so many times, and not once more', async () => {
  const run = Buffer.concat([frames(2), Buffer.alloc(3)]);
  const apart = (gaps: number) => Buffer.concat([...Array.from({ length: gaps }, () => run), frames(2)]);
  sameLength(await secondsOf(apart(MEDIA_GAPS_MAX)), 2 * (MEDIA_GAPS_MAX + 1) * FRAME_SECONDS);
  await assert.rejects(secondsOf(apart(MEDIA_GAPS_MAX + 1)), Unreadable);
});

test('what holds no frame is unreadable', async () => {
  for (const file of [
    Buffer.alloc(0),
    Buffer.alloc(3),
    Buffer.alloc(5000),
    id3(Buffer.alloc(100)),
    id3v1,
    frame().subarray(0, 100),
  ]) {
    await assert.rejects(secondsOf(file), Unreadable);
    await assert.rejects(secondsOf(file, AAC), Unreadable);
  }
});

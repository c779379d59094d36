import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, micro } from '../../test/support/media-bytes.ts';
import { toneAs } from '../../test/support/media-samples.ts';
import { byteSourceOf, measure, type Sniffed, Unreadable } from './index.ts';

const FLAC: Sniffed = { kind: 'audio', mimeType: 'audio/flac', extension: 'flac' };

async function secondsOf(file: Buffer): Promise<number | undefined> {
  return (await measure(byteSourceOf(file), FLAC)).seconds;
}

/** The total is 36 bits at byte 21, behind four that mean something else. */
function stating(file: Buffer, samples: number): Buffer {
  const copy = Buffer.from(file);
  copy[21] = (copy[21] ?? 0) & 0xf0;
  copy.writeUInt32BE(samples, 22);
  return copy;
}

test('R-415: a FLAC is as long as its samples, whether it states their number or not', async () => {
  for (const [seconds, sampleRate, channels] of [
    [0.01, 48_000, 1],
    [1, 8000, 1],
    [1.2345, 44_100, 2],
    [3, 48_000, 2],
  ] as const) {
    const samples = Math.round(seconds * sampleRate);
    const file = await toneAs('flac', { seconds, sampleRate, channels });
    assert.equal(await secondsOf(stating(file, samples)), micro(samples / sampleRate));
    assert.equal(await secondsOf(stating(file, 0)), micro(samples / sampleRate));
  }
});

test('R-415: the block sizes that a FLAC states are bounds, and not what its frames have', async () => {
  const file = stating(await toneAs('flac', { seconds: 2, sampleRate: 8000, channels: 1 }), 0);
  const seconds = await secondsOf(file);
  // Where the description of the stream has its smallest and largest block.
  file.writeUInt16BE(16, 8);
  file.writeUInt16BE(65_535, 10);
  assert.equal(await secondsOf(file), seconds);
});

test('a FLAC that states another number than it holds is unreadable', async () => {
  const file = await toneAs('flac', { seconds: 1 });
  for (const samples of [1, 47_999, 48_001, 0xffff_ffff])
    await assert.rejects(secondsOf(stating(file, samples)), Unreadable);
});

test('a FLAC that is cut anywhere is unreadable, also if it states no number', async () => {
  const file = stating(await toneAs('flac', { seconds: 0.5 }), 0);
  for (let length = 0; length < file.length; length += 97)
    await assert.rejects(secondsOf(file.subarray(0, length)), Unreadable);
  await assert.rejects(secondsOf(file.subarray(0, -1)), Unreadable);
});

test('the blocks and tags around the frames do not matter', async () => {
  const file = await toneAs('flac', { seconds: 0.5 });
  const stream = Buffer.from(file.subarray(0, 42));
  stream[4] = 0;
  const picture = Buffer.concat([bytes('06 030000'), Buffer.alloc(0x30000)]);
  const more = Buffer.concat([
    bytes('494433 0400 00 00000005'),
    Buffer.alloc(5),
    stream,
    picture,
    lastBlocks(file),
    framesOf(file),
  ]);
  assert.equal(await secondsOf(more), 0.5);
  const tag = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
  assert.equal(await secondsOf(Buffer.concat([file, tag])), 0.5);
});

test('a FLAC recorded from the middle of a stream is as long as what is there', async () => {
  const file = stating(await toneAs('flac', { seconds: 2 }), 0);
  const all = framesOf(file);
  const second = all.indexOf(all.subarray(0, 4), 4);
  assert.ok(second > 0);
  const blockSamples = file.readUInt16BE(8);
  const rest = Buffer.concat([file.subarray(0, file.length - all.length), all.subarray(second)]);
  assert.equal(await secondsOf(rest), micro((2 * 48_000 - blockSamples) / 48_000));
});

test('a FLAC without frames, without a rate or without a description is unreadable', async () => {
  const file = await toneAs('flac', { seconds: 0.5 });
  const frames = framesOf(file);
  await assert.rejects(secondsOf(file.subarray(0, file.length - frames.length)), Unreadable);
  const noRate = Buffer.from(file);
  noRate.fill(0, 18, 20);
  noRate[20] = (noRate[20] ?? 0) & 0x0f;
  await assert.rejects(secondsOf(noRate), Unreadable);
  const noDescription = Buffer.from(file);
  noDescription[4] = 0x84;
  await assert.rejects(secondsOf(noDescription), Unreadable);
});

/** Where the metadata blocks end. */
function framesOf(file: Buffer): Buffer {
  for (let at = 4; ; ) {
    const head = file.readUInt32BE(at);
    at += 4 + (head & 0xff_ffff);
    if (head >>> 31 === 1) return file.subarray(at);
  }
}

/** The metadata behind the first block, or an empty last block if there is none. */
function lastBlocks(file: Buffer): Buffer {
  const blocks = file.subarray(42, file.length - framesOf(file).length);
  return blocks.length > 0 ? blocks : bytes('81000000');
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, element, words } from '../../test/support/media-bytes.ts';
import { type ClipContainer, clip, toneAs } from '../../test/support/media-samples.ts';
import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { byteSourceOf, type Measured, measure, type Sniffed, Unreadable } from './index.ts';

const WEBM: Sniffed = { kind: 'video', mimeType: 'video/webm', extension: 'webm' };

function measured(file: Buffer): Promise<Measured> {
  return measure(byteSourceOf(file), WEBM);
}

async function secondsOf(file: Buffer): Promise<number | undefined> {
  return (await measured(file)).seconds;
}

const CONTAINERS: readonly ClipContainer[] = ['webm', 'webm-live', 'mkv', 'mkv-live'];

for (const container of CONTAINERS) {
  test(`R-239 R-372: a clip in ${container} is as long and large as it was made`, async () => {
    for (const [seconds, framesPerSecond, sound] of [
      [0.5, 24, false],
      [2, 30, true],
      [3.4, 10, true],
    ] as const) {
      const file = await clip({ seconds, framesPerSecond, sound, width: 80, height: 60, container });
      assert.deepEqual(await measured(file), { width: 80, height: 60, seconds, hasAudio: sound, hasVideo: true });
    }
  });
}

test('R-415: Opus in WebM is as long as its packets, also in a live recording', async () => {
  for (const format of ['webm', 'webm-live'] as const) {
    const file = await toneAs(format, { seconds: 1.5 });
    // 312 samples of delay and 72 000 of tone take 76 packets of 20 milliseconds.
    assert.deepEqual(await measured(file), { seconds: 1.52, hasAudio: true, hasVideo: false });
  }
});

test('sound that does not tell how long its last block is ends where the file says', async () => {
  const file = await toneAs('mka-aac', { seconds: 1.5 });
  const { seconds = 0 } = await measured(file);
  assert.ok(seconds >= 1.5 && seconds < 1.5 + (3 * 1024) / 48_000);
});

test('a file that is not live and cut anywhere is unreadable', async () => {
  const file = await clip({ seconds: 0.5, container: 'webm', sound: true });
  for (let length = 0; length < file.length; length += 37) {
    await assert.rejects(measured(file.subarray(0, length)), Unreadable);
  }
});

test('a live recording that is cut between blocks is as long as what is there', async () => {
  const file = await clip({ seconds: 2, container: 'webm-live' });
  const { seconds = 0 } = await measured(file.subarray(0, file.lastIndexOf(bytes('a3'))));
  assert.ok(seconds > 1.5 && seconds < 2);
  await assert.rejects(measured(file.subarray(0, -1)), Unreadable);
});

const UNKNOWN = bytes('01ffffffffffffff');
const head = element('1a45dfa3', element('4282', Buffer.from('webm')));
const number = (id: string, value: number) => element(id, words(value));
const nanoseconds = (id: string, milliseconds: number) => number(id, milliseconds * 1_000_000);

function float(value: number): Buffer {
  const content = Buffer.alloc(8);
  content.writeDoubleBE(value);
  return content;
}

const about = (duration?: number, unitNs = 1_000_000) =>
  element('1549a966', number('2ad7b1', unitNs), ...(duration === undefined ? [] : [element('4489', float(duration))]));

function track(id: number, type: number, ...more: readonly Buffer[]): Buffer {
  return element('ae', number('d7', id), element('83', Buffer.from([type])), ...more);
}

const opus = element('86', Buffer.from('A_OPUS'));
const tracks = (...entries: readonly Buffer[]) => element('1654ae6b', ...entries);
const cluster = (at: number, ...blocks: readonly Buffer[]) => element('1f43b675', number('e7', at), ...blocks);

/** A block of track `id`, at a time within its cluster. */
function content(id: number, at: number, frames: Buffer, flags = 0): Buffer {
  const begin = Buffer.from([0x80 + id, 0, 0, flags]);
  begin.writeInt16BE(at, 1);
  return Buffer.concat([begin, frames]);
}

const block = (id: number, at: number, frames = bytes('00'), flags = 0) =>
  element('a3', content(id, at, frames, flags));
const group = (id: number, at: number, frames: Buffer, ...more: readonly Buffer[]) =>
  element('a0', element('a1', content(id, at, frames)), ...more);
const segment = (...parts: readonly Buffer[]) => Buffer.concat([head, element('18538067', ...parts)]);

/** The first byte of a packet of Opus of 20 milliseconds, and of one with three times as much. */
const PACKET = bytes('fc 00');
const TRIPLE = bytes('ff 03');

const VIDEO = tracks(track(1, 1));
const frames = (...times: readonly number[]) => times.map((at) => block(1, at));

const lengths: readonly [name: string, seconds: number, file: Buffer][] = [
  ['the usual time between blocks', 0.12, segment(about(), VIDEO, cluster(0, ...frames(0, 40, 80)))],
  [
    'that also when blocks are out of order',
    0.24,
    segment(about(), VIDEO, cluster(0, ...frames(0, 120, 40, 80, 200, 160))),
  ],
  [
    'clusters',
    10.08,
    segment(about(), VIDEO, cluster(0, ...frames(0, 40)), cluster(10_000, ...frames(0, 40)), cluster(5000)),
  ],
  ['what the file states, if it is about there', 0.13, segment(about(130), VIDEO, cluster(0, ...frames(0, 40, 80)))],
  [
    'not what the file states, if it is far from there',
    0.12,
    segment(about(9000), VIDEO, cluster(0, ...frames(0, 40, 80))),
  ],
  ['nor if it is before', 0.12, segment(about(50), VIDEO, cluster(0, ...frames(0, 40, 80)))],
  ['what the file states, if there is one block only', 5, segment(about(5000), VIDEO, cluster(0, ...frames(0)))],
  [
    'the stated length of frames',
    0.11,
    segment(about(), tracks(track(1, 1, nanoseconds('23e383', 30))), cluster(0, ...frames(0, 40, 80))),
  ],
  [
    'the stated length of the last block',
    0.13,
    segment(about(), VIDEO, cluster(0, ...frames(0, 40), group(1, 80, PACKET, number('9b', 50)))),
  ],
  [
    'the frames in the last block',
    0.17,
    segment(
      about(),
      tracks(track(1, 2, nanoseconds('23e383', 30))),
      cluster(0, block(1, 0), block(1, 80, bytes('02'), 0x06)),
    ),
  ],
  ['from the first block', 0.12, segment(about(), VIDEO, cluster(3_600_000, ...frames(0, 40, 80)))],
  ['other units', 1.2, segment(about(undefined, 10_000_000), VIDEO, cluster(0, ...frames(0, 40, 80)))],
  [
    'packets of Opus',
    0.08,
    segment(about(), tracks(track(1, 2, opus)), cluster(0, block(1, 0, PACKET), block(1, 20, TRIPLE))),
  ],
  [
    'packets of Opus less what is not heard',
    0.0535,
    segment(
      about(),
      tracks(track(1, 2, opus, number('56aa', 6_500_000))),
      cluster(0, block(1, 0, PACKET), group(1, 20, PACKET), group(1, 40, PACKET)),
    ),
  ],
  [
    'and what is thrown away of the last',
    0.05,
    segment(
      about(),
      tracks(track(1, 2, opus)),
      cluster(0, block(1, 0, PACKET), block(1, 20, PACKET), group(1, 40, PACKET, nanoseconds('75a2', 10))),
    ),
  ],
  [
    'the time stamps of Opus with a pause',
    1.02,
    segment(about(), tracks(track(1, 2, opus)), cluster(0, block(1, 0, PACKET), block(1, 1000, PACKET))),
  ],
  [
    'packets of Opus whose time stamps are all the same',
    0.06,
    segment(about(), tracks(track(1, 2, opus)), cluster(0, ...Array.from({ length: 3 }, () => block(1, 0, PACKET)))),
  ],
  [
    'no more than the last packet thrown away',
    0.04,
    segment(
      about(),
      tracks(track(1, 2, opus)),
      cluster(0, block(1, 0, PACKET), block(1, 20, PACKET), group(1, 40, PACKET, nanoseconds('75a2', 1000))),
    ),
  ],
  [
    'no more than two seconds of delay',
    8.02,
    segment(
      about(),
      tracks(track(1, 2, opus, nanoseconds('56aa', 4000))),
      cluster(0, block(1, 0, PACKET), block(1, 10_000, PACKET)),
    ),
  ],
  [
    'the longest track',
    0.24,
    segment(about(), tracks(track(1, 1), track(2, 2)), cluster(0, ...frames(0, 40, 80), block(2, 0), block(2, 120))),
  ],
  ['not what belongs to no track', 0.12, segment(about(), VIDEO, cluster(0, ...frames(0, 40, 80), block(5, 30_000)))],
  [
    'not subtitles',
    0.12,
    segment(about(), tracks(track(1, 1), track(2, 17)), cluster(0, ...frames(0, 40, 80), block(2, 30_000))),
  ],
  [
    'what is in between',
    0.12,
    segment(
      about(),
      element('ec', Buffer.alloc(70_000)),
      VIDEO,
      element('1254c367', Buffer.alloc(9)),
      cluster(0, ...frames(0, 40, 80)),
    ),
  ],
];

for (const [name, seconds, file] of lengths) {
  test(`a Matroska file is measured by ${name}`, async () => {
    const actual = (await secondsOf(file)) ?? 0;
    assert.ok(Math.abs(actual - seconds) < 1e-9, `${actual} is not ${seconds}`);
  });
}

test('what was written before its length was known has none', async () => {
  const open = (id: string) => Buffer.concat([bytes(id), UNKNOWN]);
  const parts = [head, open('18538067'), about(), VIDEO];
  for (const at of [0, 1000]) parts.push(open('1f43b675'), number('e7', at), ...frames(0, 40, 80));
  assert.equal(await secondsOf(Buffer.concat(parts)), 1.12);
});

test('R-415: lengths and numbers in more bytes than they need are read as those that are short', async () => {
  const long = (id: string, ...content: readonly Buffer[]) => {
    const body = Buffer.concat(content);
    return Buffer.concat([bytes(id), bytes('01000000'), words(body.length), body]);
  };
  const wide = (id: string, value: number) => long(id, words(0, value));
  const entry = long('ae', wide('d7', 1), wide('83', 2), long('86', Buffer.from('A_OPUS\0')));
  const numbered = (at: number) => {
    const start = bytes('10000001 0000 00');
    start.writeInt16BE(at, 4);
    return long('a3', start, PACKET);
  };
  const parts = [long('1549a966', wide('2ad7b1', 1_000_000)), long('1654ae6b', entry)];
  const file = long('18538067', ...parts, long('1f43b675', wide('e7', 0), numbered(0), numbered(20)));
  assert.deepEqual(await measured(Buffer.concat([head, file])), { seconds: 0.04, hasAudio: true, hasVideo: false });
});

const broken: readonly [name: string, file: Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['its head only', head],
  ['no tracks', segment(about(), cluster(0, ...frames(0, 40)))],
  ['no blocks', segment(about(5000), VIDEO)],
  ['blocks that take no time', segment(about(), VIDEO, cluster(0, ...frames(0)))],
  ['no unit of time', segment(about(undefined, 0), VIDEO, cluster(0, ...frames(0, 40)))],
  ['more than a day', segment(about(), VIDEO, cluster(0, ...frames(0)), cluster(90_000_000, ...frames(0)))],
  ['a block that is too short', segment(about(), VIDEO, cluster(0, element('a3', bytes('8100'))))],
  ['an element without an end', Buffer.concat([head, bytes('18538067'), UNKNOWN, bytes('ec'), UNKNOWN])],
  ['an element that is longer than the file', Buffer.concat([head, bytes('18538067'), UNKNOWN, bytes('ec88 00')])],
  ['a segment that is longer than the file', segment(about(), VIDEO, cluster(0, ...frames(0, 40))).subarray(0, -1)],
  [
    'something that is no element',
    Buffer.concat([segment(about(), VIDEO, cluster(0, ...frames(0, 40))), bytes('0000')]),
  ],
];

for (const [name, file] of broken) {
  test(`a Matroska file with ${name} is unreadable`, async () => {
    await assert.rejects(measured(file), Unreadable);
  });
}

test('a file has at most so many tracks', async () => {
  const many = (count: number) =>
    segment(
      about(),
      tracks(...Array.from({ length: count }, (_, index) => track(index + 1, 1))),
      cluster(0, ...frames(0, 40)),
    );
  assert.equal(await secondsOf(many(MEDIA_TRACKS_MAX)), 0.08);
  await assert.rejects(measured(many(MEDIA_TRACKS_MAX + 1)), Unreadable);
});

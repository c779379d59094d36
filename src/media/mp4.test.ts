import assert from 'node:assert/strict';
import { test } from 'node:test';
import { box, words } from '../../test/support/media-bytes.ts';
import { type ClipContainer, clip, toneAs } from '../../test/support/media-samples.ts';
import { MEDIA_EDITS_MAX, MEDIA_TRACKS_MAX } from '../limits.ts';
import { byteSourceOf, type Measured, measure, type Sniffed, Unreadable } from './index.ts';

const MP4: Sniffed = { kind: 'video', mimeType: 'video/mp4', extension: 'mp4' };

function measured(file: Buffer): Promise<Measured> {
  return measure(byteSourceOf(file), MP4);
}

async function secondsOf(...boxes: readonly Buffer[]): Promise<number | undefined> {
  return (await measured(Buffer.concat(boxes))).seconds;
}

const CONTAINERS: readonly ClipContainer[] = ['mp4', 'mp4-index-last', 'mp4-fragmented', 'mov'];

for (const container of CONTAINERS) {
  test(`R-239 R-372: a clip in ${container} is as long and large as it was made`, async () => {
    for (const [seconds, framesPerSecond, width, height] of [
      [0.5, 24, 64, 48],
      [2, 30, 48, 96],
      [3.4, 10, 320, 240],
    ] as const) {
      const file = await clip({ seconds, framesPerSecond, width, height, container });
      assert.deepEqual(await measured(file), { width, height, seconds, hasAudio: false, hasVideo: true });
    }
  });

  test(`the sound of a clip in ${container}, which fills its last frame, does not make it longer`, async () => {
    const file = await clip({ seconds: 2, sound: true, container });
    assert.deepEqual(await measured(file), { width: 64, height: 48, seconds: 2, hasAudio: true, hasVideo: true });
  });

  test(`a clip in ${container} that is cut anywhere is unreadable`, async () => {
    const file = await clip({ seconds: 0.5, container, sound: true });
    const last = container === 'mp4-fragmented' ? file.lastIndexOf('mdat', -1, 'latin1') : file.length;
    for (let length = 0; length < last; length += 61) {
      const cut = file.subarray(0, length);
      await measured(cut).then(
        // Between two fragments there is nothing to miss.
        () => assert.ok(container === 'mp4-fragmented' && isBetweenBoxes(file, length)),
        (error: unknown) => assert.ok(error instanceof Unreadable),
      );
    }
  });
}

test('R-415: sound alone is as long as its frames, whole or in fragments', async () => {
  for (const format of ['m4a', 'm4a-fragmented'] as const) {
    const { seconds = 0, ...rest } = await measured(await toneAs(format, { seconds: 1.3, sampleRate: 44_100 }));
    assert.deepEqual(rest, { hasAudio: true, hasVideo: false });
    assert.ok(seconds >= 1.3 && seconds < 1.3 + (3 * 1024) / 44_100);
  }
});

test('what the headers state of the length is not believed', async () => {
  const file = await clip({ seconds: 2 });
  for (const [header, at] of [
    ['mvhd', 20],
    ['tkhd', 24],
    ['mdhd', 20],
  ] as const) {
    file.writeUInt32BE(7, file.indexOf(header) + at);
  }
  assert.equal((await measured(file)).seconds, 2);
});

interface TrackOptions {
  readonly id?: number;
  readonly handler?: string;
  /** Samples and how long each lasts, in thousandths of a second. */
  readonly times?: readonly (readonly [count: number, units: number])[];
  readonly unitsPerSecond?: number;
  readonly stbl?: readonly Buffer[];
  readonly more?: readonly Buffer[];
  readonly matrix?: readonly number[];
}

const UPRIGHT = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
const LYING = [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000];

function track(options: TrackOptions = {}): Buffer {
  const { id = 1, handler = 'vide', times = [[100, 40]], unitsPerSecond = 1000, stbl = [], more = [] } = options;
  const description = Buffer.alloc(86);
  words(86).copy(description);
  description.write('avc1', 4, 'latin1');
  description.writeUInt16BE(640, 32);
  description.writeUInt16BE(360, 34);
  return box(
    'trak',
    box('tkhd', words(0, 0, 0, id, 0, 0, 0, 0, 0, 0, ...(options.matrix ?? UPRIGHT), 0, 0)),
    ...more,
    box(
      'mdia',
      box('mdhd', words(0, 0, 0, unitsPerSecond, 0, 0)),
      box('hdlr', words(0, 0), Buffer.from(handler, 'latin1'), words(0, 0, 0)),
      box(
        'minf',
        box('hdlr', words(0, 0), Buffer.from('alis', 'latin1'), words(0, 0, 0)),
        box(
          'stbl',
          box('stsd', words(0, 1), description),
          box('stts', words(0, times.length, ...times.flat())),
          ...stbl,
        ),
      ),
    ),
  );
}

const movieHeader = (unitsPerSecond = 600) => box('mvhd', words(0, 0, 0, unitsPerSecond, 0, 0), Buffer.alloc(76));
const movie = (...boxes: readonly Buffer[]) => box('moov', movieHeader(), ...boxes);

/** In 600ths of a second of the movie, from thousandths of the track. */
const edits = (...rows: readonly (readonly [units: number, from: number])[]) =>
  box('edts', box('elst', words(0, rows.length, ...rows.flatMap(([units, from]) => [units, from, 0x10000]))));

const edited: readonly [name: string, seconds: number, options: TrackOptions][] = [
  ['none', 4, {}],
  ['one that is all of it', 4, { more: [edits([2400, 0])] }],
  ['one of a part', 2, { more: [edits([1200, 500])] }],
  ['two parts', 1.5, { more: [edits([600, 0], [300, 2000])] }],
  ['a delay, which all tracks have', 4, { more: [edits([600, -1], [2400, 0])] }],
  ['a pause between two parts', 3, { more: [edits([600, 0], [600, -1], [600, 1000])] }],
  ['one that wants more than there is', 3.5, { more: [edits([6000, 500])] }],
  ['one that wants all that is left', 3.5, { more: [edits([0, 500])] }],
  ['one that is rounded to the coarser scale', 4.001, { times: [[1, 4001]], more: [edits([2400, 0])] }],
  [
    'one that begins where the first frame is shown',
    4,
    { more: [edits([2400, 80])], stbl: [box('ctts', words(0, 1, 100, 80))] },
  ],
];

for (const [name, seconds, options] of edited) {
  test(`a track with edits is as long as they leave it: ${name}`, async () => {
    assert.equal(await secondsOf(movie(track(options))), seconds);
  });
}

test('edits of eight bytes are read too', async () => {
  const long = box('edts', box('elst', words(0x0100_0000, 1, 0, 1200, 0, 500, 0x10000)));
  assert.equal(await secondsOf(movie(track({ more: [long] }))), 2);
  const delay = box('edts', box('elst', words(0x0100_0000, 2, 0, 600, -1, -1, 0x10000, 0, 1200, 0, 500, 0x10000)));
  const other = track({ id: 2, handler: 'soun', times: [[1, 500]] });
  assert.equal(await secondsOf(movie(track({ more: [delay] }), other)), 3);
});

test('a movie ends with its last track and begins with its first', async () => {
  const sound = (units: number, ...more: Buffer[]) => track({ id: 2, handler: 'soun', times: [[1, units]], more });
  assert.equal(await secondsOf(movie(track(), sound(4100))), 4);
  assert.equal(await secondsOf(movie(track(), sound(4101))), 4.101);
  assert.equal(await secondsOf(movie(track(), sound(1000))), 4);
  assert.equal(await secondsOf(movie(track(), sound(1000, edits([3000, -1], [600, 0])))), 6);
});

test('tracks of neither pictures nor sound, and those without samples, do not count', async () => {
  const text = track({ id: 2, handler: 'text', times: [[1, 90_000]] });
  const empty = track({ id: 3, handler: 'soun', times: [] });
  const { seconds, hasAudio, hasVideo } = await measured(movie(track(), text, empty));
  assert.deepEqual({ seconds, hasAudio, hasVideo }, { seconds: 4, hasAudio: false, hasVideo: true });
});

test('a clip stored lying is as wide as it is shown', async () => {
  const { width, height } = await measured(movie(track({ matrix: LYING })));
  assert.deepEqual({ width, height }, { width: 360, height: 640 });
  const upright = await measured(movie(track()));
  assert.deepEqual([upright.width, upright.height], [640, 360]);
});

test('headers with times of eight bytes are read too', async () => {
  const long = track().subarray();
  const mdhd = box('mdhd', words(0x0100_0000, 0, 0, 0, 0, 1000, 0, 0, 0));
  const tkhd = box('tkhd', words(0x0100_0000, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, ...LYING, 0, 0));
  const hdlr = box('hdlr', words(0, 0), Buffer.from('vide'), words(0, 0, 0));
  const table = long.subarray(long.indexOf('stbl') - 4);
  const media = box('mdia', mdhd, hdlr, box('minf', table));
  const mvhd = box('mvhd', words(0x0100_0000, 0, 0, 0, 0, 600, 0, 0), Buffer.alloc(76));
  const whole = await measured(box('moov', mvhd, box('trak', tkhd, edits([1200, 0]), media)));
  assert.deepEqual([whole.seconds, whole.width], [2, 360]);
});

const defaults = (units: number) => box('mvex', box('trex', words(0, 1, 1, units, 0, 0)));
const fragment = (...content: readonly Buffer[]) => box('moof', box('mfhd', words(0, 1)), box('traf', ...content));
const header = (flags: number, ...fields: readonly number[]) => box('tfhd', words(flags, 1, ...fields));
const time = (units: number) => box('tfdt', words(0, units));
const run = (flags: number, count: number, ...fields: readonly number[]) => box('trun', words(flags, count, ...fields));
const empty = (...more: readonly Buffer[]) => movie(track({ times: [], more }), defaults(40));

const fragmented: readonly [name: string, seconds: number, boxes: readonly Buffer[]][] = [
  ['by the default of the track', 0.4, [empty(), fragment(header(0), run(0, 10))]],
  ['by the default of the fragment', 0.5, [empty(), fragment(header(0x8, 50), run(0, 10))]],
  ['by that behind other fields', 0.5, [empty(), fragment(header(0xb, 0, 0, 1, 50), run(0, 10))]],
  ['each by itself', 0.06, [empty(), fragment(header(0), run(0x301, 3, 0, 10, 1, 20, 1, 30, 1))]],
  ['in several runs', 0.8, [empty(), fragment(header(0), run(0, 10), run(0, 10))]],
  [
    'in several fragments',
    0.8,
    [empty(), fragment(header(0), run(0, 10)), box('mdat'), fragment(header(0), run(0, 10))],
  ],
  ['from where the first begins', 0.4, [empty(), fragment(header(0), time(99_000), run(0, 10))]],
  [
    'with what is missing between',
    1.4,
    [empty(), fragment(header(0), time(0), run(0, 10)), fragment(header(0), time(1000), run(0, 10))],
  ],
  [
    'each counted though all begin at once',
    0.8,
    [empty(), fragment(header(0), time(0), run(0, 10)), fragment(header(0), time(0), run(0, 10))],
  ],
  ['behind samples of the movie itself', 4.4, [movie(track(), defaults(40)), fragment(header(0), run(0, 10))]],
  ['less what an edit takes off', 0.3, [empty(edits([0, 100])), fragment(header(0), run(0, 10))]],
  [
    'with a lead that an edit takes off',
    0.4,
    [empty(edits([0, 100])), fragment(header(0), run(0x800, 10, 100, ...Array<number>(9).fill(0)))],
  ],
];

for (const [name, seconds, boxes] of fragmented) {
  test(`samples in fragments are counted ${name}`, async () => {
    assert.equal(await secondsOf(...boxes), seconds);
  });
}

test('fragments of a track that the movie does not have are nobody’s', async () => {
  const other = fragment(box('tfhd', words(0, 9)), time(0), run(0, 1000));
  assert.equal(await secondsOf(empty(), fragment(header(0), run(0, 10)), other), 0.4);
});

test('media may lie anywhere in the file, and not behind its end', async () => {
  const chunks = (type: string, ...rows: readonly number[]) => movie(track({ stbl: [box(type, words(0, ...rows))] }));
  const end = chunks('stco', 1, 0).length;
  const longEnd = chunks('co64', 1, 0, 0).length;
  assert.equal(await secondsOf(chunks('stco', 1, end - 1)), 4);
  assert.equal(await secondsOf(chunks('co64', 1, 0, longEnd - 1)), 4);
  await assert.rejects(secondsOf(chunks('stco', 1, end)), Unreadable);
  await assert.rejects(secondsOf(chunks('co64', 1, 0, longEnd)), Unreadable);
  await assert.rejects(secondsOf(chunks('co64', 1, 1, 0)), Unreadable);
});

const brokenMovies: readonly [name: string, file: Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['no index', box('mdat', Buffer.alloc(100))],
  ['no tracks', movie()],
  ['tracks without samples', movie(track({ times: [] }))],
  ['samples that take no time', movie(track({ times: [[100, 0]] }))],
  ['edits that leave nothing', movie(track({ more: [edits([600, -1])] }))],
  ['no time scale', movie(track({ unitsPerSecond: 0 }))],
  ['edits and no time scale for them', box('moov', movieHeader(0), track({ more: [edits([600, 0])] }))],
  ['more than a day', movie(track({ times: [[1, 86_400_001]] }))],
  ['a box that is longer than the file', Buffer.concat([movie(track()), words(9), Buffer.from('mdat')])],
  ['a box that is longer than the one around it', movie(track(), Buffer.concat([words(100), Buffer.from('free')]))],
  ['a box that is shorter than its head', Buffer.concat([movie(track()), words(7), Buffer.from('free')])],
  ['a table that is longer than its box', movie(track({ stbl: [box('stts', words(0, 3, 1, 1))] }))],
  ['a list of chunks that is longer than its box', movie(track({ stbl: [box('stco', words(0, 3, 1, 1))] }))],
  ['a box of a track in none', movie(box('mdia', box('mdhd', words(0, 0, 0, 1, 0, 0))))],
  ['boxes in boxes in boxes', Array.from({ length: 12 }).reduce<Buffer>((inner) => box('moov', inner), movie(track()))],
];

for (const [name, file] of brokenMovies) {
  test(`an MP4 with ${name} is unreadable`, async () => {
    await assert.rejects(measured(file), Unreadable);
  });
}

test('a day of samples is read, and a box of all that is left', async () => {
  const media = box('mdat', Buffer.alloc(16 * 86_400));
  assert.equal(await secondsOf(movie(track({ times: [[86_400, 1000]] })), media), 86_400);
  assert.equal(await secondsOf(movie(track()), words(0), Buffer.from('mdat'), Buffer.alloc(50)), 4);
  const long = Buffer.concat([words(1), Buffer.from('mdat'), words(0, 66), Buffer.alloc(50)]);
  assert.equal(await secondsOf(long, movie(track())), 4);
});

test('a movie has at most so many tracks and a track so many edits', async () => {
  const tracks = (count: number) => movie(...Array.from({ length: count }, () => track()));
  assert.equal(await secondsOf(tracks(MEDIA_TRACKS_MAX)), 4);
  await assert.rejects(secondsOf(tracks(MEDIA_TRACKS_MAX + 1)), Unreadable);
  const pieces = (count: number) =>
    movie(track({ more: [edits(...Array.from({ length: count }, () => [6, 0] as const))] }));
  assert.ok(Math.abs(((await secondsOf(pieces(MEDIA_EDITS_MAX))) ?? 0) - MEDIA_EDITS_MAX / 100) < 1e-6);
  await assert.rejects(secondsOf(pieces(MEDIA_EDITS_MAX + 1)), Unreadable);
});

function isBetweenBoxes(file: Buffer, length: number): boolean {
  let at = 0;
  while (at < length) at += file.readUInt32BE(at);
  // What is too short for a box is passed over.
  return at === length || length - at < 8;
}

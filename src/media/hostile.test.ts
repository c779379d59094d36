import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { box, bytes, element, joined, repeated, riffChunk, watched, words } from '../../test/support/media-bytes.ts';
import { type ClipContainer, clip, type ToneFormat, toneAs } from '../../test/support/media-samples.ts';
import {
  MEDIA_EXTRA_READS_MAX,
  MEDIA_PARTS_MAX,
  MEDIA_READ_BYTES_MAX,
  MEDIA_READ_BYTES_MIN,
  MEDIA_SECONDS_MAX,
} from '../limits.ts';
import { BufferedReader } from './buffered-reader.ts';
import { type ByteSource, byteSourceOf, type Measured, measure, type Sniffed, sniff, Unreadable } from './index.ts';

const MIB = 2 ** 20;
const LARGE = 20 * MIB;

function typed(mimeType: string): Sniffed {
  return { kind: 'audio', mimeType, extension: '' };
}

/** Measures it, and holds the number and length of reads to their bounds. Undefined if it is unreadable. */
async function measuredInBounds(media: ByteSource, sniffed: Sniffed): Promise<Measured | undefined> {
  const seen = watched(media);
  const measured = await measure(seen, sniffed).catch((error: unknown) => {
    assert.ok(error instanceof Unreadable, `it threw ${String(error)}`);
    return undefined;
  });
  assert.ok(seen.reads.length <= Math.ceil(media.bytes / (MEDIA_READ_BYTES_MIN / 2)) + MEDIA_EXTRA_READS_MAX);
  for (const { start, end } of seen.reads) {
    assert.ok(start >= 0 && start < end && end <= media.bytes);
    // More only to find the last frame of a FLAC: 65 535 samples of eight channels.
    assert.ok(end - start <= (sniffed.mimeType === 'audio/flac' ? 3 : 1) * MEDIA_READ_BYTES_MAX);
  }
  const read = seen.reads.reduce((sum, { start, end }) => sum + end - start, 0);
  assert.ok(read <= 1.5 * media.bytes + 4 * MIB, `${read} bytes read of ${media.bytes}`);
  return measured;
}

const TONES: readonly ToneFormat[] = [
  'wav',
  'mp3',
  'ogg-vorbis',
  'ogg-opus',
  'flac',
  'aac',
  'm4a',
  'm4a-fragmented',
  'webm',
  'mka-aac',
];
const CLIPS: readonly ClipContainer[] = ['mp4', 'mp4-index-last', 'mp4-fragmented', 'mov', 'mkv-live', 'webm-live'];

async function samples(): Promise<{ readonly file: Buffer; readonly sniffed: Sniffed }[]> {
  const files = [
    ...TONES.map((format) => toneAs(format, { seconds: 0.3 })),
    ...CLIPS.map((container) => clip({ seconds: 0.3, container, sound: true })),
  ];
  return (await Promise.all(files)).map((file) => {
    const sniffed = sniff(file);
    assert.ok(sniffed !== undefined);
    return { file, sniffed };
  });
}

/** Places are chosen near the beginning as often as anywhere, since there the headers are. */
const place = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 0.05, noNaN: true }));
const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: place }),
  fc.record({ kind: fc.constant('flip' as const), at: place, bit: fc.nat(7) }),
  fc.record({
    kind: fc.constant('write' as const),
    at: place,
    word: fc.oneof(fc.constantFrom(0, 1, 8, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff), fc.nat(0xffff_ffff)),
  }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: place,
    noise: fc.uint8Array({ minLength: 1, maxLength: 300 }),
  }),
  fc.record({ kind: fc.constant('repeat' as const), at: place, length: fc.nat(2000) }),
);

test('a broken file is measured within its bounds or unreadable, whatever is broken in it', async () => {
  const whole = await samples();
  const broken = fc.record({
    index: fc.nat(whole.length - 1),
    damages: fc.array(damage, { minLength: 1, maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(broken, async ({ index, damages }) => {
      const sample = whole[index];
      assert.ok(sample !== undefined);
      const file = damages.reduce(damaged, Buffer.from(sample.file));
      const measured = await measuredInBounds(byteSourceOf(file), sample.sniffed);
      const { seconds = 1 } = measured ?? {};
      assert.ok(seconds > 0 && seconds <= MEDIA_SECONDS_MAX);
    }),
    { numRuns: 1000 },
  );
});

test('noise that is called anything is measured within its bounds or unreadable', async () => {
  const types = (await samples()).map(({ sniffed }) => sniffed);
  const noise = fc.record({ sniffed: fc.constantFrom(...types), content: fc.uint8Array({ maxLength: 3000 }) });
  await fc.assert(
    fc.asyncProperty(noise, async ({ sniffed, content }) => {
      await measuredInBounds(byteSourceOf(Buffer.from(content)), sniffed);
    }),
    { numRuns: 500 },
  );
});

function damaged(file: Buffer, change: typeof damage extends fc.Arbitrary<infer Damage> ? Damage : never): Buffer {
  const at = Math.floor(change.at * file.length);
  switch (change.kind) {
    case 'cut':
      return file.subarray(0, at);
    case 'flip':
      if (at < file.length) file[at] = (file[at] ?? 0) ^ (1 << change.bit);
      return file;
    case 'write':
      if (at + 4 <= file.length) file.writeUInt32BE(change.word, at);
      return file;
    case 'insert':
      return Buffer.concat([file.subarray(0, at), change.noise, file.subarray(at)]);
    case 'repeat':
      return Buffer.concat([
        file.subarray(0, at),
        file.subarray(Math.max(0, at - change.length), at),
        file.subarray(at),
      ]);
  }
}

const OPEN = bytes('01ffffffffffffff');
const ftyp = box('ftyp', Buffer.from('isom'), words(0), Buffer.from('isommp42'));
const segment = Buffer.concat([element('1a45dfa3', element('4282', Buffer.from('webm'))), bytes('18538067'), OPEN]);
const film = Buffer.concat([
  segment,
  element('1654ae6b', element('ae', element('d7', words(1)), element('83', bytes('01')))),
]);
const opusPage = bytes('4f676753 00 02 0000000000000000 01000000 00000000 00000000 01 13');
const opus = Buffer.concat([opusPage, Buffer.from('OpusHead'), bytes('01 01 3801 80bb0000 0000 00')]);
const flac = bytes(`664c6143 00000022 ffff ffff 000000 000000 0ac44ff0 00000000 ${'00'.repeat(16)}`);
const png = bytes('89504e470d0a1a0a 0000000d 49484452 00000010 00000010 08 06 000000 00000000');

/** Boxes that reach to the end of the file, one inside the other, and what each holds before the next. */
function nested(...levels: readonly (readonly [type: string, ...content: Buffer[]])[]): Buffer {
  return levels.reduce((before, [type, ...content]) => {
    const head = Buffer.concat([words(LARGE - before.length), Buffer.from(type)]);
    return Buffer.concat([before, head, ...content]);
  }, ftyp);
}

const mdhd = box('mdhd', words(0, 0, 0, 1000, 0, 0));
const hdlr = box('hdlr', words(0, 0), Buffer.from('vide'), words(0, 0, 0));
const rows = (count: number) => words(0, count);

const hostile: readonly [name: string, type: string, head: Buffer, unit: Buffer][] = [
  ['an MP4 of nothing but empty boxes', 'video/mp4', ftyp, box('free')],
  ['an MP4 of nothing but empty movies', 'video/mp4', ftyp, box('moov')],
  ['an MP4 of nothing but fragments', 'video/mp4', ftyp, box('moof', box('traf', box('tfhd', words(0, 1))))],
  [
    'an MP4 that is one table',
    'video/mp4',
    nested(
      ['moov'],
      ['trak'],
      ['mdia', mdhd, hdlr],
      ['minf'],
      ['stbl'],
      ['stts', rows(Math.floor((LARGE - 1000) / 8))],
    ),
    words(1, 1),
  ],
  [
    'an MP4 that is one list of edits',
    'video/mp4',
    nested(['moov'], ['trak'], ['edts'], ['elst', rows(Math.floor((LARGE - 1000) / 12))]),
    words(1, 1),
  ],
  ['a WebM of nothing but empty elements', 'video/webm', segment, bytes('ec80')],
  [
    'a WebM of nothing but blocks',
    'video/webm',
    Buffer.concat([film, bytes('1f43b675'), OPEN]),
    bytes('a384 81 0000 00'),
  ],
  ['a WebM of nothing but clusters', 'video/webm', film, bytes('1f43b675ff')],
  ['a WebM of nothing but track numbers', 'video/webm', film, bytes('d78101')],
  ['an Ogg of nothing but empty pages', 'audio/ogg', opus, bytes(`4f676753 00 00 ${'00'.repeat(20)} 00`)],
  ['an Ogg of nothing but beginnings', 'audio/ogg', opus, opus],
  [
    'an Ogg of very short files',
    'audio/ogg',
    opus,
    Buffer.concat([opus, bytes(`4f676753 00 00 0000010000000000 01000000 ${'00'.repeat(8)} 01 01 00`)]),
  ],
  ['AAC of the shortest frames', 'audio/aac', Buffer.alloc(0), bytes('fff1 0040 011f fc 00')],
  ['an MP3 of nothing but tags', 'audio/mpeg', Buffer.alloc(0), bytes('494433 0400 00 00000000')],
  ['an MP3 of nothing but ones', 'audio/mpeg', Buffer.alloc(0), bytes('ff')],
  [
    'an MP3 of frames with much between them',
    'audio/mpeg',
    Buffer.alloc(0),
    bytes(`${`ffe314c0${'00'.repeat(44)}`.repeat(2)} ${'ff'.repeat(60_000)}`),
  ],
  [
    'a WAV of nothing but empty chunks',
    'audio/wav',
    bytes('52494646 00000000 57415645'),
    riffChunk('junk', Buffer.alloc(0)),
  ],
  ['a FLAC of nothing but empty blocks', 'audio/flac', flac, bytes('01000000')],
  [
    'a FLAC of nothing but heads of frames',
    'audio/flac',
    Buffer.concat([flac.subarray(0, 4), bytes('80'), flac.subarray(5)]),
    bytes('fff8c90800b4 0000'),
  ],
  ['a PNG of nothing but empty chunks', 'image/png', png, bytes('00000000 49444154 00000000')],
  ['a JPEG of nothing but ones', 'image/jpeg', bytes('ffd8ffe00002'), bytes('ff')],
  ['a JPEG without an end', 'image/jpeg', bytes('ffd8 ffc0000b080010001001011100 ffda'), bytes('ff00')],
];

for (const [name, mimeType, head, unit] of hostile) {
  test(`${name} costs no more than its length`, async () => {
    await measuredInBounds(joined(byteSourceOf(head), repeated(unit, LARGE - head.length)), typed(mimeType));
  });
}

test('a file has at most so many parts', async () => {
  // As many empty boxes, and a movie that is made of six.
  const movie = box('moov', box('trak', mdhd, hdlr, box('stts', words(0, 1, 1, 1000))), box('free'));
  const parts = (count: number) =>
    measure(joined(repeated(box('free'), (count - 6) * 8), byteSourceOf(movie)), typed('video/mp4'));
  assert.equal((await parts(MEDIA_PARTS_MAX)).seconds, 1);
  await assert.rejects(parts(MEDIA_PARTS_MAX + 1), Unreadable);
});

test('a file is read at most so many times', async () => {
  const large = 10 * MIB;
  const most = large / (MEDIA_READ_BYTES_MIN / 2) + MEDIA_EXTRA_READS_MAX;
  const reader = new BufferedReader(repeated(bytes('00'), large));
  for (let count = 0; count < most; count++) await reader.from(count % 2 === 0 ? 0 : large - 1, 1);
  await assert.rejects(reader.from(most % 2 === 0 ? 0 : large - 1, 1), Unreadable);
});

test('a day is measured, and not a second more', async () => {
  const format = riffChunk('fmt ', bytes('0100 0100 a00f0000 a00f0000 0100 0800'));
  const wave = (seconds: number) => {
    const data = riffChunk('data', Buffer.alloc(0), seconds * 4000);
    const head = riffChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), format, data]));
    return measure(joined(byteSourceOf(head), repeated(bytes('00'), seconds * 4000)), typed('audio/wav'));
  };
  assert.equal((await wave(MEDIA_SECONDS_MAX)).seconds, MEDIA_SECONDS_MAX);
  await assert.rejects(wave(MEDIA_SECONDS_MAX + 1), Unreadable);
});

test('a long MP4 is read at its index only', async () => {
  const file = await clip({ seconds: 1, container: 'mp4-index-last' });
  const front = Buffer.concat([file.subarray(0, file.indexOf('mdat') - 4), words(LARGE), Buffer.from('mdat')]);
  const index = byteSourceOf(file.subarray(file.indexOf('moov') - 4));
  const seen = watched(joined(joined(byteSourceOf(front), repeated(bytes('00'), LARGE - 8)), index));
  assert.equal((await measure(seen, typed('video/mp4'))).seconds, 1);
  assert.ok(seen.reads.length <= 3);
});

test('what the store throws is thrown on, and a store that gives too little has a broken file', async () => {
  const failure = new Error('the store is away');
  const failing = { bytes: 1000, read: () => Promise.reject(failure) };
  await assert.rejects(measure(failing, typed('audio/wav')), failure);
  const short = { bytes: 1000, read: () => Promise.resolve(Buffer.alloc(10)) };
  await assert.rejects(measure(short, typed('audio/wav')), Unreadable);
});

test('what is not media is not measured', async () => {
  await assert.rejects(measure(byteSourceOf(Buffer.from('hello')), typed('text/plain')), Unreadable);
});

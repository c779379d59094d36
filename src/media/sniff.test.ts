import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import sharp from 'sharp';
import { box, bytes, words } from '../../test/support/media-bytes.ts';
import { clip, picture, toneAs } from '../../test/support/media-samples.ts';
import { SNIFF_BYTES } from '../limits.ts';
import { asMeasured, sniff } from './index.ts';

const seconds = 1.5;

const samples: readonly [name: string, make: () => Promise<Buffer>, mimeType: string, extension: string][] = [
  ['a PNG', () => picture('png', { width: 40, height: 30 }), 'image/png', 'png'],
  ['a JPEG', () => picture('jpeg', { width: 40, height: 30 }), 'image/jpeg', 'jpg'],
  ['a WebP', () => picture('webp', { width: 40, height: 30 }), 'image/webp', 'webp'],
  ['a WebP without loss', () => picture('webp-lossless', { width: 40, height: 30 }), 'image/webp', 'webp'],
  ['a WebP one can see through', () => picture('webp-alpha', { width: 40, height: 30 }), 'image/webp', 'webp'],
  ['R-415: a WAV', () => toneAs('wav', { seconds }), 'audio/wav', 'wav'],
  ['R-415: an MP3', () => toneAs('mp3', { seconds }), 'audio/mpeg', 'mp3'],
  ['R-415: an MP3 of speech', () => toneAs('mp3', { seconds, sampleRate: 16_000 }), 'audio/mpeg', 'mp3'],
  ['R-415: a FLAC', () => toneAs('flac', { seconds }), 'audio/flac', 'flac'],
  ['R-415: AAC in ADTS', () => toneAs('aac', { seconds }), 'audio/aac', 'aac'],
  ['R-415: Vorbis in Ogg', () => toneAs('ogg-vorbis', { seconds }), 'audio/ogg', 'ogg'],
  ['R-415: Opus in Ogg', () => toneAs('ogg-opus', { seconds }), 'audio/ogg', 'ogg'],
  ['R-415: an MP4', () => clip({ seconds }), 'video/mp4', 'mp4'],
  ['R-415: an MP4 in fragments', () => clip({ seconds, container: 'mp4-fragmented' }), 'video/mp4', 'mp4'],
  ['R-415: a WebM', () => clip({ seconds, container: 'webm' }), 'video/webm', 'webm'],
  ['a MOV', () => clip({ seconds, container: 'mov' }), 'video/quicktime', 'mov'],
  ['a Matroska file', () => clip({ seconds, container: 'mkv' }), 'video/matroska', 'mkv'],
];

for (const [name, make, mimeType, extension] of samples) {
  test(`${name} is known by its first bytes`, async () => {
    const file = await make();
    const kind = mimeType.slice(0, mimeType.indexOf('/'));
    assert.deepEqual(sniff(file.subarray(0, SNIFF_BYTES)), { kind, mimeType, extension });
  });
}

/** An element whose length is written in eight bytes, whatever it needs. */
const longElement = (id: string, content: Buffer) =>
  Buffer.concat([bytes(id), bytes('01000000'), words(content.length), content]);

test('R-415, R-486: WebM with lengths and numbers in more bytes than they need is known', async () => {
  const head = Buffer.concat([
    longElement('4286', bytes('0000000000000001')),
    longElement('42f7', bytes('0000000000000001')),
    longElement('ec', Buffer.from('4282', 'hex')),
    longElement('42f2', bytes('0000000000000004')),
    longElement('42f3', bytes('0000000000000008')),
    longElement('bf', bytes('00000000')),
    longElement('4287', bytes('0000000000000004')),
    longElement('4285', bytes('0000000000000002')),
    longElement('4282', Buffer.from('webm\0\0\0\0')),
  ]);
  const file = longElement('1a45dfa3', head);
  assert.ok(file.length > 128);
  assert.equal(sniff(file)?.mimeType, 'video/webm');
  assert.equal(
    sniff(longElement('1a45dfa3', longElement('4282', Buffer.from('matroska'))))?.mimeType,
    'video/matroska',
  );
  assert.equal(sniff(longElement('1a45dfa3', longElement('4282', Buffer.from('webmx')))), undefined);
  for (let length = 0; length < file.length - 8; length++) assert.equal(sniff(file.subarray(0, length)), undefined);
});

const id3 = (length: number) =>
  Buffer.concat([bytes('494433 0300 00 0000'), Buffer.from([length >> 7, length & 0x7f]), Buffer.alloc(length)]);

test('a tag in front hides neither MP3 nor AAC nor FLAC', async () => {
  for (const [format, mimeType] of [
    ['mp3', 'audio/mpeg'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
  ] as const) {
    const file = Buffer.concat([id3(300), id3(10), await toneAs(format, { seconds })]);
    assert.equal(sniff(file.subarray(0, SNIFF_BYTES))?.mimeType, mimeType);
  }
});

test('a tag that is longer than the head is taken for that of an MP3', () => {
  assert.equal(sniff(id3(9000).subarray(0, SNIFF_BYTES))?.mimeType, 'audio/mpeg');
});

test('an M4A is told by its brand, and without one by having no pictures', async () => {
  const m4a = box('ftyp', Buffer.from('M4A '), words(0), Buffer.from('isomM4A '));
  assert.deepEqual(sniff(m4a), { kind: 'audio', mimeType: 'audio/mp4', extension: 'm4a' });
  const plain = sniff(await toneAs('m4a', { seconds }));
  assert.equal(plain?.mimeType, 'video/mp4');
  assert.deepEqual(asMeasured(plain, { hasVideo: false }), sniff(m4a));
  assert.deepEqual(asMeasured(plain, { hasVideo: true }), plain);
});

test('every container of both is called by what it holds, and nothing else is renamed', () => {
  const names = [
    ['video/webm', 'audio/webm', 'webm', 'webm'],
    ['video/matroska', 'audio/matroska', 'mkv', 'mka'],
    ['video/mp4', 'audio/mp4', 'mp4', 'm4a'],
    ['video/quicktime', 'video/quicktime', 'mov', 'mov'],
    ['audio/wav', 'audio/wav', 'wav', 'wav'],
  ] as const;
  for (const [mimeType, renamed, extension, renamedExtension] of names) {
    const sniffed = { kind: 'video', mimeType, extension } as const;
    const { mimeType: type, extension: end } = asMeasured(sniffed, { hasVideo: false });
    assert.deepEqual([type, end], [renamed, renamedExtension]);
  }
});

const brands = (major: string, ...others: readonly string[]) =>
  box('ftyp', Buffer.from(major), words(0), ...others.map((brand) => Buffer.from(brand)));

const nothings: readonly [name: string, head: Buffer | Promise<Buffer>][] = [
  ['no byte', Buffer.alloc(0)],
  ['one byte', Buffer.from([0xff])],
  ['text', Buffer.from('hello, world'.repeat(50))],
  ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
  ['a GIF', drawn('gif')],
  ['a TIFF', drawn('tiff')],
  ['an AVIF', drawn('avif')],
  ['a BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(100)])],
  ['a HEIC', brands('heic', 'mif1', 'heic')],
  ['a still in the boxes of a movie', brands('mif1', 'isom', 'mp42')],
  ['3GP', brands('3gp5', 'isom', '3gp5')],
  ['boxes of an unknown brand', brands('abcd', 'efgh')],
  ['AVI', Buffer.from('RIFF\0\0\0\0AVI LIST')],
  ['a ZIP', bytes('504b0304 14000000')],
  ['FLAC in Ogg', oggPage(Buffer.from('\x7fFLAC\x01\0\0\x01fLaC', 'latin1'))],
  ['Theora in Ogg', oggPage(Buffer.from('\x80theora', 'latin1'))],
  ['an EBML document of another type', bytes('1a45dfa3 88 4282 85 6f74686572')],
  ['an EBML document of no type', bytes('1a45dfa3 80')],
  ['a tag before text', Buffer.concat([id3(20), Buffer.from('hello, world')])],
  ['MPEG layer I', Buffer.concat(Array.from({ length: 20 }, () => bytes(`ffff 1000${'00'.repeat(100)}`)))],
  ['MP3 of free format', Buffer.concat(Array.from({ length: 20 }, () => bytes(`fffb 0000${'00'.repeat(100)}`)))],
];

for (const [name, head] of nothings) {
  test(`${name} is nothing`, async () => {
    assert.equal(sniff((await head).subarray(0, SNIFF_BYTES)), undefined);
  });
}

test('R-416: samples without a header are nothing', async () => {
  const wave = await toneAs('wav', { seconds: 0.5 });
  assert.equal(sniff(wave.subarray(44, 44 + SNIFF_BYTES)), undefined);
  // Even those that begin as a frame of MP3 or AAC does.
  const samples = fc.uint8Array({ minLength: SNIFF_BYTES, maxLength: SNIFF_BYTES });
  const beginnings = fc.constantFrom('fffb9064', 'fff15080', 'ffe34044', '');
  fc.assert(
    fc.property(beginnings, samples, (beginning, noise) => {
      const head = Buffer.concat([bytes(beginning), noise]).subarray(0, SNIFF_BYTES);
      assert.equal(sniff(head), undefined);
    }),
  );
});

test('any head is answered, however short or broken', async () => {
  const heads = await Promise.all(samples.map(async ([, make]) => (await make()).subarray(0, SNIFF_BYTES)));
  const cut = fc.record({
    head: fc.constantFrom(...heads),
    length: fc.nat(SNIFF_BYTES),
    at: fc.nat(64),
    byte: fc.nat(255),
  });
  fc.assert(
    fc.property(cut, ({ head, length, at, byte }) => {
      const broken = Buffer.from(head.subarray(0, length));
      if (at < broken.length) broken[at] = byte;
      sniff(broken);
    }),
    { numRuns: 2000 },
  );
});

function drawn(format: 'gif' | 'tiff' | 'avif'): Promise<Buffer> {
  const create = { width: 16, height: 16, channels: 3, background: '#123456' } as const;
  return sharp({ create }).toFormat(format).toBuffer();
}

function oggPage(packet: Buffer): Buffer {
  return Buffer.concat([bytes('4f676753 00 02'), Buffer.alloc(20), Buffer.from([1, packet.length]), packet]);
}

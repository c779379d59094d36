import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { micro, riffChunk } from '../../test/support/media-bytes.ts';
import { toneAs } from '../../test/support/media-samples.ts';
import { SAMPLE_RATE_MAX, SAMPLE_RATE_MIN } from '../limits.ts';
import { byteSourceOf, Implausible, measure, sniff, Unreadable } from './index.ts';

async function secondsOf(file: Buffer): Promise<number | undefined> {
  const sniffed = sniff(file);
  assert.equal(sniffed?.mimeType, 'audio/wav');
  const measured = await measure(byteSourceOf(file), sniffed);
  assert.deepEqual([measured.hasAudio, measured.hasVideo], [true, false]);
  return measured.seconds;
}

interface FormatOptions {
  readonly code?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  readonly bytesPerSecond?: number;
  readonly blockBytes?: number;
  readonly more?: Buffer;
}

function format({
  code = 1,
  channels = 1,
  rate = 8000,
  bits = 16,
  more = Buffer.alloc(0),
  ...stated
}: FormatOptions): Buffer {
  const blockBytes = stated.blockBytes ?? (channels * bits) / 8;
  const content = Buffer.alloc(16);
  content.writeUInt16LE(code, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(rate, 4);
  content.writeUInt32LE(stated.bytesPerSecond ?? rate * blockBytes, 8);
  content.writeUInt16LE(blockBytes, 12);
  content.writeUInt16LE(bits, 14);
  return riffChunk('fmt ', Buffer.concat([content, more]));
}

function wave(chunks: readonly Buffer[], stated?: number, name = 'RIFF'): Buffer {
  const content = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  return riffChunk(name, content, stated ?? content.length);
}

const SECOND = Buffer.alloc(16_000);

test('what a WAV says of its rate must be possible', async () => {
  const seconds = async (rate: number) => secondsOf(wave([format({ rate }), data]));
  assert.equal(await seconds(SAMPLE_RATE_MIN), 8000 / SAMPLE_RATE_MIN);
  assert.equal(await seconds(SAMPLE_RATE_MAX), micro(8000 / SAMPLE_RATE_MAX));
  for (const rate of [1, SAMPLE_RATE_MIN - 1, SAMPLE_RATE_MAX + 1]) await assert.rejects(seconds(rate), Implausible);
  const coded = async (bytesPerSecond: number) => secondsOf(wave([format({ code: 0x22, bytesPerSecond }), data]));
  assert.equal(await coded(250), 64);
  await assert.rejects(coded(249), Implausible);
});

test('R-415: a WAV is as long as its samples', async () => {
  const options = fc.record({
    seconds: fc.double({ min: 0.01, max: 2, noNaN: true }),
    sampleRate: fc.constantFrom(8000, 11_025, 44_100, 48_000),
    channels: fc.constantFrom(1 as const, 2 as const),
  });
  await fc.assert(
    fc.asyncProperty(options, async (tone) => {
      assert.equal(
        await secondsOf(await toneAs('wav', tone)),
        micro(Math.round(tone.seconds * tone.sampleRate) / tone.sampleRate),
      );
    }),
    { numRuns: 20 },
  );
});

const data = riffChunk('data', SECOND);
const extensible = Buffer.concat([
  Buffer.from('1600180003000000', 'hex'),
  Buffer.from('0300', 'hex'),
  Buffer.alloc(14),
]);
const longSizes = Buffer.alloc(28);
longSizes.writeUInt32LE(SECOND.length, 8);

const lengths: readonly [name: string, seconds: number, file: Buffer][] = [
  ['one channel of 16 bits', 1, wave([format({}), data])],
  ['two channels of 24 bits', 2666 / 8000, wave([format({ channels: 2, bits: 24 }), data])],
  ['8 bits', 2, wave([format({ bits: 8 }), data])],
  ['floating point', 0.5, wave([format({ code: 3, bits: 32 }), data])],
  ['A-law', 2, wave([format({ code: 6, bits: 8 }), data])],
  ['µ-law', 2, wave([format({ code: 7, bits: 8 }), data])],
  ['the extensible form', 0.5, wave([format({ code: 0xfffe, bits: 32, more: extensible }), data])],
  [
    'ADPCM, by the block',
    (31 * 1017) / 8000,
    wave([format({ code: 0x11, blockBytes: 512, bits: 4, more: Buffer.from('0200f903', 'hex') }), data]),
  ],
  [
    'ADPCM that states fewer samples than its blocks hold',
    (31 * 1017) / 8000,
    wave([format({ code: 0x11, blockBytes: 512, bits: 4, more: Buffer.from('02000100', 'hex') }), data]),
  ],
  ['several chunks of data', 3, wave([format({}), data, riffChunk('LIST', SECOND), data, data])],
  ['another coding, by the rate it states', 4, wave([format({ code: 0x55, bits: 0, bytesPerSecond: 4000 }), data])],
  [
    'chunks before and behind',
    1,
    wave([
      riffChunk('JUNK', Buffer.alloc(33)),
      format({}),
      riffChunk('LIST', Buffer.alloc(70_001)),
      data,
      riffChunk('LIST', Buffer.alloc(9)),
    ]),
  ],
  ['a sample that is cut', 1, wave([format({}), riffChunk('data', Buffer.alloc(16_001))])],
  ['a stated whole that is too short', 1, wave([format({}), data], 100)],
  [
    'RF64',
    1,
    wave([riffChunk('ds64', longSizes), format({}), riffChunk('data', SECOND, 0xffff_ffff)], 0xffff_ffff, 'RF64'),
  ],
  [
    'BW64',
    1,
    wave([riffChunk('ds64', longSizes), format({}), riffChunk('data', SECOND, 0xffff_ffff)], 0xffff_ffff, 'BW64'),
  ],
  ['a stream of unknown length', 1, wave([format({}), riffChunk('data', SECOND, 0xffff_ffff)], 0xffff_ffff)],
  [
    'a stream that states about the most there can be',
    1,
    wave([format({}), riffChunk('data', SECOND, 0x7fff_ffdb)], 0x7fff_ffff),
  ],
  ['a stream that states no length', 1, wave([format({}), riffChunk('data', SECOND, 0)], 0)],
  ['a stream whose header was written for no samples', 1, wave([format({}), riffChunk('data', SECOND, 0)], 36)],
];

for (const [name, seconds, file] of lengths) {
  test(`a WAV with ${name} is measured`, async () => {
    assert.equal(await secondsOf(file), seconds);
  });
}

const broken: readonly [name: string, file: Buffer][] = [
  ['no format', wave([data])],
  ['no data', wave([format({})])],
  ['an empty data chunk', wave([format({}), riffChunk('data', Buffer.alloc(0)), riffChunk('LIST', SECOND)])],
  ['less data than stated', wave([format({}), riffChunk('data', SECOND, 16_001)])],
  [
    'less data than RF64 states',
    wave(
      [riffChunk('ds64', longSizes), format({}), riffChunk('data', SECOND.subarray(2), 0xffff_ffff)],
      0xffff_ffff,
      'RF64',
    ),
  ],
  ['a format chunk that is too short', wave([riffChunk('fmt ', Buffer.alloc(14)), data])],
  ['no sample rate', wave([format({ rate: 0 }), data])],
  ['no channels', wave([format({ channels: 0 }), data])],
  ['a block that its channels do not fill', wave([format({ blockBytes: 400 }), data])],
  ['blocks of no samples', wave([format({ code: 0x11, blockBytes: 0, more: Buffer.from('02000000', 'hex') }), data])],
  ['a chunk that reaches beyond the file', wave([riffChunk('JUNK', Buffer.alloc(2), 0xffff_fff0), format({}), data])],
];

for (const [name, file] of broken) {
  test(`a WAV with ${name} is unreadable`, async () => {
    await assert.rejects(secondsOf(file), Unreadable);
  });
}

import assert from 'node:assert/strict';
import { toneAs } from '../../../../test/support/media-samples.ts';

const RATES = ['8000', '16000', '22050', '24000', '32000', '44100', '48000'];
const KILOBITS = ['32', '64', '96', '128', '192'];

/** What every route makes. */
const EVERYWHERE: readonly string[] = [
  'mp3_22050_32',
  'mp3_24000_48',
  ...KILOBITS.map((kilobits) => `mp3_44100_${kilobits}`),
  ...KILOBITS.map((kilobits) => `opus_48000_${kilobits}`),
  ...RATES.map((rate) => `pcm_${rate}`),
  'ulaw_8000',
  'alaw_8000',
];

/** The formats of speech that is not streamed, and of all else. */
export const OUTPUT_FORMATS = {
  whole: new Set([...EVERYWHERE, ...RATES.map((rate) => `wav_${rate}`)]),
  rest: new Set(EVERYWHERE),
  music: new Set([...EVERYWHERE, 'auto', ...[128, 192, 240, 320].map((kilobits) => `mp3_48000_${kilobits}`)]),
};

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/opus',
};

export function contentTypeOf(outputFormat: string): string {
  return TYPES[outputFormat.split('_')[0] ?? ''] ?? 'audio/basic';
}

const made = new Map<string, Promise<Buffer>>();

/** Real sound in one of the formats; the same again for the same question. */
export function soundOf(outputFormat: string, seconds: number): Promise<Buffer> {
  const name = `${outputFormat} ${seconds}`;
  const known = made.get(name) ?? make(outputFormat, seconds);
  made.set(name, known);
  return known;
}

async function make(outputFormat: string, seconds: number): Promise<Buffer> {
  const [codec = '', rate, kilobits] = outputFormat.split('_');
  const sampleRate = Number(rate);
  switch (codec) {
    case 'mp3':
      return mp3(seconds, sampleRate, Number(kilobits));
    case 'opus':
      return toneAs('ogg-opus', { seconds });
    case 'wav':
      return toneAs('wav', { seconds, sampleRate });
    case 'pcm':
      return (await toneAs('wav', { seconds, sampleRate })).subarray(WAV_HEAD_BYTES);
    default:
      // Silence in the law's own way.
      return Buffer.alloc(seconds * sampleRate, codec === 'ulaw' ? 0xff : 0xd5);
  }
}

const WAV_HEAD_BYTES = 44;
const MP3_RATES = [22_050, 24_000, 44_100, 48_000] as const;
const MP3_KILOBITS = [32, 48, 64, 96, 128, 192, 256, 320] as const;

async function mp3(seconds: number, sampleRate: number, kilobits: number): Promise<Buffer> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  const outputSampleRate = MP3_RATES.find((rate) => rate === sampleRate);
  // The format has none of 240, which the vendor promises.
  const bitrate = MP3_KILOBITS.find((each) => each >= kilobits);
  assert.ok(outputSampleRate !== undefined && bitrate !== undefined);
  encoder.configure({ sampleRate, outputSampleRate, channels: 1, bitrate });
  const samples = (await toneAs('wav', { seconds, sampleRate })).subarray(WAV_HEAD_BYTES);
  const plane = Float32Array.from({ length: samples.length / 2 }, (_, at) => samples.readInt16LE(2 * at) / 32_768);
  return Buffer.concat([Buffer.from(encoder.encode([plane])), Buffer.from(encoder.finalize())]);
}

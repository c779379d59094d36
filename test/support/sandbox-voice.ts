import assert from 'node:assert/strict';
import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  Input,
  Output,
  type OutputFormat,
} from 'mediabunny';
import { byteSourceOf, measure, sniff } from '../../src/media/index.ts';
import { inMemoryMedia } from '../../src/vendors/kit/in-memory-media.ts';
import type { AudioFile, Speech } from '../../src/vendors/vendor.ts';
import { plainSound, plainTranscription } from './plain-requests.ts';

// What the tests of the sandbox's voices say, hear and look at.

export const SENTENCE = 'The quick brown fox jumps over the lazy dog.';

export const SPEECH = plainSound({ model: 'sandbox/speech', input: SENTENCE });

export const TRANSCRIPTION = plainTranscription({ model: 'sandbox/transcribe' });

export async function wholeOf({ pieces }: Speech): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

/** What the gateway finds out about bytes that it is given. */
export async function lookedAt(bytes: Buffer): Promise<{ mimeType: string; extension: string; seconds: number }> {
  const sniffed = sniff(bytes);
  assert.ok(sniffed);
  const { seconds } = await measure(byteSourceOf(bytes), sniffed);
  assert.ok(seconds);
  return { ...sniffed, seconds };
}

export async function recording(bytes: Buffer): Promise<AudioFile> {
  const { mimeType, extension, seconds } = await lookedAt(bytes);
  return { ...inMemoryMedia(bytes, mimeType), extension, seconds };
}

/** The same packets in another container. */
export async function repacked(bytes: Buffer, format: OutputFormat): Promise<Buffer> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const track = await input.getPrimaryAudioTrack();
  const codec = await track?.getCodec();
  const decoderConfig = await track?.getDecoderConfig();
  assert.ok(track && codec && decoderConfig);
  const output = new Output({ format, target: new BufferTarget() });
  const source = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(source);
  await output.start();
  for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, { decoderConfig });
  await output.finalize();
  assert.ok(output.target.buffer);
  return Buffer.from(output.target.buffer);
}

/** A WAV of samples from -1 to 1, the same in every channel. */
export function wavOf(
  samples: Float32Array,
  sampleRate: number,
  bits: 8 | 16 | 24 | 32 | 'float',
  channels = 1,
): Buffer {
  const size = bits === 'float' ? 4 : bits / 8;
  const data = Buffer.alloc(samples.length * channels * size);
  for (let at = 0; at < samples.length * channels; at++) {
    const sample = samples[Math.floor(at / channels)] ?? 0;
    if (bits === 'float') data.writeFloatLE(sample, at * size);
    else if (bits === 8) data.writeUInt8(Math.round(128 + sample * 127), at);
    else data.writeIntLE(Math.round(sample * (2 ** (bits - 1) - 1)), at * size, size);
  }
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(bits === 'float' ? 3 : 1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * channels * size, 28);
  head.writeUInt16LE(channels * size, 32);
  head.writeUInt16LE(size * 8, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** Samples of `pcm`, from -1 to 1. */
export function samplesOf(pcm: Buffer): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(at * 2) / 32_768);
}

/** Words alone, for comparing. */
export function wordsOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z ]/g, '');
}

import {
  AdtsOutputFormat,
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  FlacOutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  Quality,
  WavOutputFormat,
} from 'mediabunny';
import { compose } from './composer.ts';
import { play } from './instruments.ts';
import type { Made, MusicPiece, Progress } from './piece.ts';

const MP3_KILOBITS = [8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const;
const OPUS_RATES = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
const OPUS_CLOCK = 48_000;
const OPUS_FRAMES_PER_SECOND = 50;
const OPUS_GET_LOOKAHEAD = 4027;

/** Sound as it is played: one array for each side, or a single one. */
export interface Sound {
  readonly channels: readonly Float32Array<ArrayBuffer>[];
  readonly sampleRate: number;
}

export async function makeMusic(piece: MusicPiece, progress: Progress): Promise<Made[]> {
  const made: Made[] = [];
  for (let index = 0; index < piece.count; index++) {
    const sound = soundOf(piece, index);
    progress((index + 0.7) / piece.count);
    made.push({ data: await encoded(sound, piece), isThumbnail: false });
    progress((index + 1) / piece.count);
  }
  return made;
}

export function soundOf(piece: MusicPiece, index: number): Sound {
  const [left, right] = play(compose(piece, index), piece);
  const channels = piece.channels === 2 ? [left, right] : [left.map((sample, at) => (sample + (right[at] ?? 0)) / 2)];
  return { channels, sampleRate: piece.sampleRate };
}

async function encoded(sound: Sound, { format, bitrate }: MusicPiece): Promise<Uint8Array> {
  switch (format) {
    case 'pcm':
      return new Uint8Array(samples16(sound).buffer);
    case 'wav':
      return contained(new WavOutputFormat(), sound, new AudioSampleSource({ codec: 'pcm-s16' }));
    case 'flac': {
      const { registerFlacEncoder } = await import('@mediabunny/flac-encoder');
      registerFlacEncoder();
      return contained(new FlacOutputFormat(), sound, new AudioSampleSource({ codec: 'flac' }));
    }
    case 'aac':
      return contained(new AdtsOutputFormat(), sound, await aacSource(bitrate ?? 0));
    case 'mp3':
    case 'ogg':
      return compressed(format, sound, bitrate ?? 0);
    case 'opus':
      return opus(sound, bitrate ?? 0);
  }
}

/** AAC comes from a library because Node has no encoder of its own. */
export async function aacSource(bitrate: number): Promise<AudioSampleSource> {
  const { registerAacEncoder } = await import('@mediabunny/aac-encoder');
  registerAacEncoder();
  return new AudioSampleSource({ codec: 'aac', quality: new Quality({ bitrate }) });
}

async function contained(format: OutputFormat, sound: Sound, source: AudioSampleSource): Promise<Uint8Array> {
  const output = new Output({ format, target: new BufferTarget() });
  output.addAudioTrack(source);
  await output.start();
  await addSound(source, sound);
  return finished(output);
}

export async function finished(output: Output<OutputFormat, BufferTarget>): Promise<Uint8Array> {
  await output.finalize();
  const { buffer } = output.target;
  if (buffer === null) throw new Error('the container is empty');
  return new Uint8Array(buffer);
}

/** A second at a time, so that no encoder holds the whole. */
export async function addSound(source: AudioSampleSource, sound: Sound): Promise<void> {
  const { sampleRate } = sound;
  const numberOfChannels = sound.channels.length;
  const samples = samples16(sound);
  const step = sampleRate * numberOfChannels;
  for (let start = 0; start < samples.length; start += step) {
    const data = samples.subarray(start, start + step);
    const sample = new AudioSample({ data, format: 's16', numberOfChannels, sampleRate, timestamp: start / step });
    await source.add(sample);
    sample.close();
  }
}

async function compressed(
  format: 'mp3' | 'ogg',
  { channels, sampleRate }: Sound,
  bitrate: number,
): Promise<Uint8Array> {
  const { createMp3Encoder, createOggEncoder } = await import('wasm-media-encoders');
  const shape = { channels: channels.length === 2 ? 2 : 1, sampleRate } as const;
  const [mp3, ogg] = [await createMp3Encoder(), await createOggEncoder()];
  if (format === 'mp3')
    mp3.configure({ ...shape, bitrate: MP3_KILOBITS.find((rate) => rate * 1000 === bitrate) ?? 128 });
  else ogg.configure({ ...shape, vbrQuality: 4, oggSerialNo: 1 });
  const encoder = format === 'mp3' ? mp3 : ogg;
  const parts: Buffer[] = [];
  for (let start = 0; start < (channels[0]?.length ?? 0); start += sampleRate) {
    // Each answer stands in memory that the next one uses again.
    const second = channels.map((channel) => channel.subarray(start, start + sampleRate));
    parts.push(Buffer.from(encoder.encode(second)));
  }
  return Buffer.concat([...parts, Buffer.from(encoder.finalize())]);
}

async function opus(sound: Sound, bitrate: number): Promise<Uint8Array> {
  const { Encoder } = await import('@evan/opus');
  const { sampleRate } = sound;
  const channels = sound.channels.length === 2 ? 2 : 1;
  const rate = OPUS_RATES.find((known) => known === sampleRate) ?? OPUS_CLOCK;
  const encoder = new Encoder({ channels, sample_rate: rate, application: 'audio' });
  encoder.bitrate = bitrate;
  const samples = samples16(sound);
  const frame = rate / OPUS_FRAMES_PER_SECOND;
  // Time is counted in a clock of its own. The player skips what the encoder looks ahead, so there is more than the sound.
  const tick = OPUS_CLOCK / rate;
  const skipped = encoder.ctl(OPUS_GET_LOOKAHEAD) * tick;
  const total = (samples.length / channels) * tick + skipped;
  const source = new EncodedAudioPacketSource('opus');
  const output = new Output({ format: new OggOutputFormat(), target: new BufferTarget() });
  output.addAudioTrack(source);
  await output.start();
  const description = opusHead(channels, skipped, sampleRate);
  const decoderConfig = { codec: 'opus', numberOfChannels: channels, sampleRate, description };
  for (let at = 0; at * frame * tick < total; at++) {
    const chunk = new Int16Array(frame * channels);
    chunk.set(samples.subarray(at * chunk.length, (at + 1) * chunk.length));
    const seconds = Math.min(frame * tick, total - at * frame * tick) / OPUS_CLOCK;
    const data = Uint8Array.from(encoder.encode(chunk));
    const packet = new EncodedPacket(data, 'key', at / OPUS_FRAMES_PER_SECOND, seconds);
    await source.add(packet, at === 0 ? { decoderConfig } : undefined);
  }
  return finished(output);
}

function opusHead(channels: number, skipped: number, sampleRate: number): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead\u0001');
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(skipped, 10);
  head.writeUInt32LE(sampleRate, 12);
  return head;
}

/** Sixteen bits a sample, side after side. */
function samples16({ channels }: Sound): Int16Array<ArrayBuffer> {
  const length = channels[0]?.length ?? 0;
  const samples = new Int16Array(length * channels.length);
  for (const [side, channel] of channels.entries()) {
    for (let at = 0; at < length; at++) samples[at * channels.length + side] = Math.round((channel[at] ?? 0) * 32_767);
  }
  return samples;
}

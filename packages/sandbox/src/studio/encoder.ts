import {
  AdtsOutputFormat,
  AppendOnlyStreamTarget,
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  FlacOutputFormat,
  NullTarget,
  OggOutputFormat,
  Output,
  type OutputFormat,
  Quality,
} from 'mediabunny';
import type { MusicPiece } from './piece.ts';
import { plain, samples16, streamedWav, wholeWav } from './samples.ts';

const MP3_KILOBITS = [8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const;
const OPUS_RATES = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
const OPUS_CLOCK = 48_000;
const OPUS_FRAMES_PER_SECOND = 50;
const OPUS_GET_LOOKAHEAD = 4027;
/** Of 10, which sounds hardly better and takes nine times as long. */
const OPUS_COMPLEXITY = 5;
const NOTHING = Buffer.alloc(0);

export type SoundFormat = MusicPiece['format'];
export type Encoding = Pick<MusicPiece, 'format' | 'sampleRate' | 'channels' | 'bitrate'>;

/** Sound as it is played: one array for each side, or a single one. */
export interface Sound {
  readonly channels: readonly Float32Array<ArrayBuffer>[];
  readonly sampleRate: number;
}

/** Takes a sound bit by bit. What it returns are the bytes that are ready, one after the other. */
export interface SoundEncoder {
  add(sound: Sound): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
}

/** WAV and FLAC tell their length at the beginning: what is to be `whole` comes at the end, what is not does not tell. */
export function encoderOf(encoding: Encoding, isWhole: boolean): Promise<SoundEncoder> {
  const { format, bitrate } = encoding;
  switch (format) {
    case 'pcm':
      return Promise.resolve(plain());
    case 'wav':
      return Promise.resolve(isWhole ? wholeWav(encoding) : streamedWav(encoding));
    case 'flac':
      return flac(isWhole);
    case 'aac':
      return aac(bitrate ?? 0);
    case 'mp3':
    case 'ogg':
      return compressed(format, encoding);
    case 'opus':
      return opus(encoding);
  }
}

async function flac(isWhole: boolean): Promise<SoundEncoder> {
  const { registerFlacEncoder } = await import('@mediabunny/flac-encoder');
  registerFlacEncoder();
  const parts: Uint8Array[] = [];
  // A container that cannot go back to its beginning tells no block size, so that no frame can be placed. The codec's
  // own header does.
  const onEncodedPacket = ({ data }: EncodedPacket, meta?: EncodedAudioChunkMetadata) => {
    const head = meta?.decoderConfig?.description;
    if (head !== undefined) parts.push(new Uint8Array(ArrayBuffer.isView(head) ? head.buffer : head));
    parts.push(data);
  };
  const source = new AudioSampleSource(isWhole ? { codec: 'flac' } : { codec: 'flac', onEncodedPacket });
  const target = isWhole ? new BufferTarget() : new NullTarget();
  const output = new Output({ format: new FlacOutputFormat({ appendOnly: !isWhole }), target });
  output.addAudioTrack(source);
  await output.start();
  const add = soundAdder(source);
  return {
    async add(sound) {
      await add(sound);
      return Buffer.concat(parts.splice(0));
    },
    async end() {
      await output.finalize();
      return Buffer.concat([...parts.splice(0), target instanceof BufferTarget ? written(target) : NOTHING]);
    },
  };
}

async function aac(bitrate: number): Promise<SoundEncoder> {
  return contained(new AdtsOutputFormat(), await aacSource(bitrate));
}

/** AAC comes from a library because Node has no encoder of its own. */
export async function aacSource(bitrate: number): Promise<AudioSampleSource> {
  const { registerAacEncoder } = await import('@mediabunny/aac-encoder');
  registerAacEncoder();
  return new AudioSampleSource({ codec: 'aac', quality: new Quality({ bitrate }) });
}

async function contained(format: OutputFormat, source: AudioSampleSource): Promise<SoundEncoder> {
  const { output, drain } = streamed(format);
  output.addAudioTrack(source);
  await output.start();
  const add = soundAdder(source);
  return {
    async add(sound) {
      await add(sound);
      return drain();
    },
    async end() {
      await output.finalize();
      return drain();
    },
  };
}

/** A container that is written from its beginning to its end, and what has been written since it was last drained. */
function streamed(format: OutputFormat) {
  const parts: Uint8Array[] = [];
  const writable = new WritableStream<Uint8Array>({
    write: (part) => {
      parts.push(part);
    },
  });
  const output = new Output({ format, target: new AppendOnlyStreamTarget(writable) });
  return { output, drain: () => Buffer.concat(parts.splice(0)) };
}

export async function finished(output: Output<OutputFormat, BufferTarget>): Promise<Uint8Array> {
  await output.finalize();
  return written(output.target);
}

function written({ buffer }: BufferTarget): Uint8Array {
  if (buffer === null) throw new Error('the container is empty');
  return new Uint8Array(buffer);
}

/** A second at a time, so that no encoder holds the whole. */
export function soundAdder(source: AudioSampleSource): (sound: Sound) => Promise<void> {
  let added = 0;
  return async ({ channels, sampleRate }) => {
    const numberOfChannels = channels.length;
    const samples = samples16(channels);
    const step = sampleRate * numberOfChannels;
    for (let start = 0; start < samples.length; start += step) {
      const data = samples.subarray(start, start + step);
      const sample = new AudioSample({ data, format: 's16', numberOfChannels, sampleRate, timestamp: added / step });
      added += data.length;
      await source.add(sample);
      sample.close();
    }
  };
}

async function compressed(format: 'mp3' | 'ogg', encoding: Encoding): Promise<SoundEncoder> {
  const { createMp3Encoder, createOggEncoder } = await import('wasm-media-encoders');
  const { channels, sampleRate, bitrate } = encoding;
  const shape = { channels, sampleRate };
  const [mp3, ogg] = [await createMp3Encoder(), await createOggEncoder()];
  if (format === 'mp3')
    mp3.configure({ ...shape, bitrate: MP3_KILOBITS.find((rate) => rate * 1000 === bitrate) ?? 128 });
  else ogg.configure({ ...shape, vbrQuality: 4, oggSerialNo: 1 });
  const encoder = format === 'mp3' ? mp3 : ogg;
  return {
    async add(sound) {
      const parts: Buffer[] = [];
      for (let start = 0; start < (sound.channels[0]?.length ?? 0); start += sampleRate) {
        // Each answer stands in memory that the next one uses again.
        const second = sound.channels.map((channel) => channel.subarray(start, start + sampleRate));
        parts.push(Buffer.from(encoder.encode(second)));
      }
      return Buffer.concat(parts);
    },
    end: async () => Buffer.from(encoder.finalize()),
  };
}

async function opus({ channels, sampleRate, bitrate }: Encoding): Promise<SoundEncoder> {
  const { Encoder } = await import('@evan/opus');
  const rate = OPUS_RATES.find((known) => known === sampleRate) ?? OPUS_CLOCK;
  const encoder = new Encoder({ channels, sample_rate: rate, application: 'audio' });
  encoder.bitrate = bitrate ?? 0;
  encoder.complexity = OPUS_COMPLEXITY;
  const frame = rate / OPUS_FRAMES_PER_SECOND;
  // Time is counted in a clock of its own. The player skips what the encoder looks ahead, so there is more than the sound.
  const tick = OPUS_CLOCK / rate;
  const skipped = encoder.ctl(OPUS_GET_LOOKAHEAD) * tick;
  const source = new EncodedAudioPacketSource('opus');
  const { output, drain } = streamed(new OggOutputFormat());
  output.addAudioTrack(source);
  await output.start();
  const description = opusHead(channels, skipped, sampleRate);
  const decoderConfig = { codec: 'opus', numberOfChannels: channels, sampleRate, description };
  let packets = 0;
  const write = async (samples: Int16Array, seconds: number) => {
    const data = Uint8Array.from(encoder.encode(samples));
    const packet = new EncodedPacket(data, 'key', packets / OPUS_FRAMES_PER_SECOND, seconds);
    await source.add(packet, packets++ === 0 ? { decoderConfig } : undefined);
  };
  let rest = new Int16Array(0);
  return {
    async add(sound) {
      const samples = joined(rest, samples16(sound.channels));
      let at = 0;
      for (; at + frame * channels <= samples.length; at += frame * channels) {
        await write(samples.subarray(at, at + frame * channels), 1 / OPUS_FRAMES_PER_SECOND);
      }
      rest = samples.slice(at);
      return drain();
    },
    async end() {
      let left = (rest.length / channels) * tick + skipped;
      for (let at = 0; left > 0; at += frame * channels, left -= frame * tick) {
        const samples = new Int16Array(frame * channels);
        samples.set(rest.subarray(at, at + samples.length));
        await write(samples, Math.min(frame * tick, left) / OPUS_CLOCK);
      }
      await output.finalize();
      return drain();
    },
  };
}

function opusHead(channels: number, skipped: number, sampleRate: number): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead\u0001');
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(skipped, 10);
  head.writeUInt32LE(sampleRate, 12);
  return head;
}

function joined(first: Int16Array, second: Int16Array): Int16Array<ArrayBuffer> {
  const both = new Int16Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

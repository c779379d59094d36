import assert from 'node:assert/strict';
import type { H264MP4Encoder } from 'h264-mp4-encoder';
import type { EncodedPacket, OutputFormat, OutputTrack } from 'mediabunny';

// Media made by real encoders, for whatever needs a picture, a sound or a clip. The encoders are loaded at first use.

export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'webp-lossless' | 'webp-alpha';

export interface PictureOptions {
  readonly width: number;
  readonly height: number;
}

/** A picture of one colour. */
export async function picture(format: PictureFormat, { width, height }: PictureOptions): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const alpha = format === 'webp-alpha' ? { alpha: 0.5 } : {};
  const channels = format === 'webp-alpha' ? 4 : 3;
  const image = sharp({ create: { width, height, channels, background: { r: 200, g: 90, b: 30, ...alpha } } });
  switch (format) {
    case 'png':
      return image.png().toBuffer();
    case 'jpeg':
      return image.jpeg().toBuffer();
    case 'webp':
    case 'webp-alpha':
      return image.webp().toBuffer();
    case 'webp-lossless':
      return image.webp({ lossless: true }).toBuffer();
  }
}

export type ToneFormat =
  | 'wav'
  | 'mp3'
  | 'ogg-vorbis'
  | 'ogg-opus'
  | 'flac'
  | 'aac'
  | 'm4a'
  | 'm4a-fragmented'
  | 'webm'
  | 'webm-live'
  | 'mka-aac';

export interface ToneOptions {
  readonly seconds: number;
  readonly sampleRate?: number;
  readonly channels?: 1 | 2;
}

interface Tone {
  readonly seconds: number;
  readonly sampleRate: number;
  readonly channels: 1 | 2;
}

/** A sine of 440 Hz. Opus knows 48 000 samples a second only. */
export async function toneAs(format: ToneFormat, options: ToneOptions): Promise<Buffer> {
  const tone: Tone = { sampleRate: 48_000, channels: 1, ...options };
  const { AdtsOutputFormat, FlacOutputFormat, MkvOutputFormat, Mp4OutputFormat, OggOutputFormat, WebMOutputFormat } =
    await import('mediabunny');
  switch (format) {
    case 'wav':
      return wave(tone);
    case 'mp3':
      return lame(tone);
    case 'ogg-vorbis':
      return vorbis(tone);
    case 'ogg-opus':
      return mux(new OggOutputFormat(), [await opusTrack(tone)]);
    case 'flac':
      return mux(new FlacOutputFormat(), [await encodedTrack('flac', tone)]);
    case 'aac':
      return mux(new AdtsOutputFormat(), [await encodedTrack('aac', tone)]);
    case 'm4a':
      return mux(new Mp4OutputFormat(), [await encodedTrack('aac', tone)]);
    case 'm4a-fragmented':
      return mux(new Mp4OutputFormat({ fastStart: 'fragmented' }), [await encodedTrack('aac', tone)]);
    case 'webm':
      return mux(new WebMOutputFormat(), [await opusTrack(tone)]);
    case 'webm-live':
      return mux(new WebMOutputFormat({ appendOnly: true }), [await opusTrack(tone)]);
    case 'mka-aac':
      return mux(new MkvOutputFormat(), [await encodedTrack('aac', tone)]);
  }
}

export type ClipContainer =
  | 'mp4'
  | 'mp4-index-last'
  | 'mp4-fragmented'
  | 'mov'
  | 'mkv'
  | 'mkv-live'
  | 'webm'
  | 'webm-live';

export interface ClipOptions {
  readonly seconds: number;
  readonly width?: number;
  readonly height?: number;
  readonly framesPerSecond?: number;
  readonly sound?: boolean;
  readonly container?: ClipContainer;
}

interface Clip {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  readonly sound: boolean;
  readonly container: ClipContainer;
}

/** A clip of flat frames, H.264 with AAC; in WebM, VP8 with Opus. */
export async function clip(options: ClipOptions): Promise<Buffer> {
  const asked: Clip = { width: 64, height: 48, framesPerSecond: 24, sound: false, container: 'mp4', ...options };
  const { MkvOutputFormat, MovOutputFormat, Mp4OutputFormat, WebMOutputFormat } = await import('mediabunny');
  const tone: Tone = { seconds: asked.seconds, sampleRate: 48_000, channels: 1 };
  const isWeb = asked.container.startsWith('webm');
  const tracks = [isWeb ? await vp8Track(asked) : await h264Track(asked)];
  if (asked.sound) tracks.push(isWeb ? await opusTrack(tone) : await encodedTrack('aac', tone));
  switch (asked.container) {
    case 'mp4':
      return mux(new Mp4OutputFormat({ fastStart: 'in-memory' }), tracks);
    case 'mp4-index-last':
      return mux(new Mp4OutputFormat({ fastStart: false }), tracks);
    case 'mp4-fragmented':
      return mux(new Mp4OutputFormat({ fastStart: 'fragmented', minimumFragmentDuration: 0.5 }), tracks);
    case 'mov':
      return mux(new MovOutputFormat(), tracks);
    case 'mkv':
      return mux(new MkvOutputFormat(), tracks);
    case 'mkv-live':
      return mux(new MkvOutputFormat({ appendOnly: true }), tracks);
    case 'webm':
      return mux(new WebMOutputFormat(), tracks);
    case 'webm-live':
      return mux(new WebMOutputFormat({ appendOnly: true }), tracks);
  }
}

export type PackedContainer = 'mp4' | 'mp4-fragmented' | 'mov' | 'mka';

/** The same packets in another container. */
export async function packed(file: Buffer, container: PackedContainer): Promise<Buffer> {
  const { ALL_FORMATS, BufferSource, EncodedAudioPacketSource, EncodedPacketSink, Input } = await import('mediabunny');
  const { MkvOutputFormat, MovOutputFormat, Mp4OutputFormat } = await import('mediabunny');
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(file) });
  const track = await input.getPrimaryAudioTrack();
  const codec = await track?.getCodec();
  assert.ok(track !== null && codec !== null && codec !== undefined);
  const decoderConfig = (await track.getDecoderConfig()) ?? assert.fail();
  const source = new EncodedAudioPacketSource(codec);
  const feed: Feed = {
    join: (output) => output.addAudioTrack(source),
    send: async () => {
      for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, { decoderConfig });
      source.close();
    },
  };
  switch (container) {
    case 'mp4':
      return mux(new Mp4OutputFormat(), [feed]);
    case 'mp4-fragmented':
      return mux(new Mp4OutputFormat({ fastStart: 'fragmented' }), [feed]);
    case 'mov':
      return mux(new MovOutputFormat(), [feed]);
    case 'mka':
      return mux(new MkvOutputFormat(), [feed]);
  }
}

const LISTENED = ['uncaughtException', 'unhandledRejection'];

type Mediabunny = typeof import('mediabunny');
type Output = InstanceType<Mediabunny['Output']>;

interface Feed {
  readonly join: (output: Output) => OutputTrack;
  readonly send: () => Promise<void>;
}

async function mux(format: OutputFormat, feeds: readonly Feed[]): Promise<Buffer> {
  const { BufferTarget, Output } = await import('mediabunny');
  const target = new BufferTarget();
  const output = new Output({ format, target });
  for (const feed of feeds) feed.join(output);
  await output.start();
  await Promise.all(feeds.map((feed) => feed.send()));
  await output.finalize();
  assert.ok(target.buffer !== null);
  return Buffer.from(target.buffer);
}

async function encodedTrack(codec: 'aac' | 'flac', tone: Tone): Promise<Feed> {
  const { AudioSample, AudioSampleSource, QUALITY_MEDIUM } = await import('mediabunny');
  await registerEncoders();
  const source = new AudioSampleSource({ codec, quality: QUALITY_MEDIUM });
  return {
    join: (output) => output.addAudioTrack(source),
    send: async () => {
      const { sampleRate, channels } = tone;
      const data = interleaved(tone);
      const sample = new AudioSample({ data, format: 'f32', numberOfChannels: channels, sampleRate, timestamp: 0 });
      await source.add(sample);
      sample.close();
      source.close();
    },
  };
}

let registered: Promise<void> | undefined;

function registerEncoders(): Promise<void> {
  registered ??= Promise.all([import('@mediabunny/aac-encoder'), import('@mediabunny/flac-encoder')]).then(
    ([{ registerAacEncoder }, { registerFlacEncoder }]) => {
      registerAacEncoder();
      registerFlacEncoder();
    },
  );
  return registered;
}

const OPUS_PACKET_SAMPLES = 960;
const OPUS_PRE_SKIP = 312;

async function opusTrack(tone: Tone): Promise<Feed> {
  const { EncodedAudioPacketSource, EncodedPacket } = await import('mediabunny');
  const { Encoder } = await import('@evan/opus');
  assert.equal(tone.sampleRate, 48_000);
  const source = new EncodedAudioPacketSource('opus');
  return {
    join: (output) => output.addAudioTrack(source),
    send: async () => {
      const encoder = new Encoder({ channels: tone.channels, sample_rate: 48_000 });
      const description = opusHead(tone.channels);
      const config = { codec: 'opus', numberOfChannels: tone.channels, sampleRate: 48_000, description };
      // The encoder lags behind: what it is given comes out so much later, and what comes out before is to be skipped.
      const all = integers(tone);
      const samples = all.length / tone.channels + OPUS_PRE_SKIP;
      for (let at = 0; at < samples; at += OPUS_PACKET_SAMPLES) {
        const piece = new Int16Array(OPUS_PACKET_SAMPLES * tone.channels);
        piece.set(all.subarray(at * tone.channels, (at + OPUS_PACKET_SAMPLES) * tone.channels));
        const data = Uint8Array.from(encoder.encode(piece));
        const kept = Math.min(OPUS_PACKET_SAMPLES, samples - at);
        await source.add(new EncodedPacket(data, 'key', at / 48_000, kept / 48_000), { decoderConfig: config });
      }
      source.close();
    },
  };
}

function opusHead(channels: number): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(OPUS_PRE_SKIP, 10);
  head.writeUInt32LE(48_000, 12);
  return head;
}

async function h264Track({ seconds, width, height, framesPerSecond }: Clip): Promise<Feed> {
  const { ALL_FORMATS, BufferSource, EncodedPacketSink, EncodedVideoPacketSource, Input } = await import('mediabunny');
  const encoder = await h264Encoder();
  Object.assign(encoder, { width, height, frameRate: framesPerSecond, quantizationParameter: 40, speed: 10 });
  encoder.initialize();
  const frames = Math.round(seconds * framesPerSecond);
  for (let frame = 0; frame < frames; frame++) {
    encoder.addFrameRgba(new Uint8Array(width * height * 4).fill((frame * 5) % 256));
  }
  encoder.finalize();
  const encoded = Buffer.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(encoded) });
  const track = await input.getPrimaryVideoTrack();
  assert.ok(track !== null);
  const decoderConfig = (await track.getDecoderConfig()) ?? undefined;
  const packets: EncodedPacket[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet);
  const source = new EncodedVideoPacketSource('avc');
  return {
    join: (output) => output.addVideoTrack(source),
    send: async () => {
      const meta = decoderConfig === undefined ? {} : { decoderConfig };
      for (const packet of packets) await source.add(packet, meta);
      source.close();
    },
  };
}

async function h264Encoder(): Promise<H264MP4Encoder> {
  const before = LISTENED.map((event) => new Set(process.rawListeners(event)));
  const { default: library } = await import('h264-mp4-encoder');
  // It would turn every unhandled rejection of the process into its own abort.
  for (const [index, event] of LISTENED.entries()) {
    for (const listener of process.rawListeners(event)) {
      if (before[index]?.has(listener) === false) process.removeListener(event, listener as () => void);
    }
  }
  return library.createH264MP4Encoder();
}

/** A lossy WebP is one key frame of VP8 in a wrapper of 20 bytes. */
async function vp8Track({ seconds, width, height, framesPerSecond }: Clip): Promise<Feed> {
  const { EncodedPacket, EncodedVideoPacketSource } = await import('mediabunny');
  const wrapped = await picture('webp', { width, height });
  const frame = Uint8Array.from(wrapped.subarray(20, 20 + wrapped.readUInt32LE(16)));
  const source = new EncodedVideoPacketSource('vp8');
  return {
    join: (output) => output.addVideoTrack(source),
    send: async () => {
      const decoderConfig = { codec: 'vp8', codedWidth: width, codedHeight: height };
      for (let count = 0; count < Math.round(seconds * framesPerSecond); count++) {
        const packet = new EncodedPacket(frame, 'key', count / framesPerSecond, 1 / framesPerSecond);
        await source.add(packet, { decoderConfig });
      }
      source.close();
    },
  };
}

const LAME_RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

async function lame(tone: Tone): Promise<Buffer> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  const { sampleRate, channels } = tone;
  const outputSampleRate = LAME_RATES.find((rate) => rate === sampleRate);
  assert.ok(outputSampleRate !== undefined);
  encoder.configure({ sampleRate, outputSampleRate, channels, bitrate: 64 });
  return Buffer.concat([Buffer.from(encoder.encode(planes(tone))), Buffer.from(encoder.finalize())]);
}

async function vorbis(tone: Tone): Promise<Buffer> {
  const { createOggEncoder } = await import('wasm-media-encoders');
  const encoder = await createOggEncoder();
  const { sampleRate, channels } = tone;
  encoder.configure({ sampleRate, channels, vbrQuality: 1 });
  return Buffer.concat([Buffer.from(encoder.encode(planes(tone))), Buffer.from(encoder.finalize())]);
}

function wave(tone: Tone): Buffer {
  const samples = integers(tone);
  const data = Buffer.from(samples.buffer);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(tone.channels, 22);
  head.writeUInt32LE(tone.sampleRate, 24);
  head.writeUInt32LE(tone.sampleRate * tone.channels * 2, 28);
  head.writeUInt16LE(tone.channels * 2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

function plane({ seconds, sampleRate }: Tone): Float32Array {
  const wave = new Float32Array(Math.round(seconds * sampleRate));
  for (let at = 0; at < wave.length; at++) wave[at] = 0.4 * Math.sin((2 * Math.PI * 440 * at) / sampleRate);
  return wave;
}

function planes(tone: Tone): [Float32Array] | [Float32Array, Float32Array] {
  const wave = plane(tone);
  return tone.channels === 1 ? [wave] : [wave, wave];
}

function interleaved(tone: Tone): Float32Array<ArrayBuffer> {
  const wave = plane(tone);
  const all = new Float32Array(wave.length * tone.channels);
  for (let at = 0; at < all.length; at++) all[at] = wave[Math.floor(at / tone.channels)] ?? 0;
  return all;
}

function integers(tone: Tone): Int16Array<ArrayBuffer> {
  return Int16Array.from(interleaved(tone), (value) => Math.round(value * 32_767));
}

import {
  ALL_FORMATS,
  AppendOnlyStreamTarget,
  type AudioCodec,
  AudioSampleSink,
  BufferSource,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  FLAC,
  FlacOutputFormat,
  Input,
  type InputAudioTrack,
  type InputFormat,
  Logging,
  LogLevel,
  MP3,
  Mp3OutputFormat,
  OGG,
  OggOutputFormat,
  Output,
  PCM_AUDIO_CODECS,
} from 'mediabunny';
import { Impossible } from './serve.ts';

const SLICE_BYTES = 64 * 1024;
/** So many packets are written anew before they are decoded. */
const PACKETS_AT_ONCE = 64;
const BARE_FORMATS: readonly InputFormat[] = [MP3, FLAC, OGG];
const PLAIN_CODECS: ReadonlySet<string | null> = new Set(PCM_AUDIO_CODECS);

// A fault of a recording goes into the answer to its request; the program's output is for its own log.
Logging.level = LogLevel.Silent;

/** Sound of one channel. */
export interface Heard {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** What the decoders have in common. */
interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly sampleRate: number;
}
interface Decoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>;
  flush?(): Promise<Decoded>;
  free(): void;
}

/** Decodes a recording bit by bit. Throws Impossible for a codec that it does not know, and for what is broken. */
export async function* decoded(file: Uint8Array): AsyncGenerator<Heard> {
  const input = new Input({ source: new BufferSource(file), formats: ALL_FORMATS });
  const track = await input.getPrimaryAudioTrack().catch(broken);
  if (track === null) throw new Impossible('there is no sound in it');
  const codec = await track.getCodec();
  let isEmpty = true;
  try {
    for await (const bit of PLAIN_CODECS.has(codec) ? plain(track) : coded(track, codec, file)) {
      isEmpty = false;
      yield bit;
    }
  } catch (error) {
    broken(error);
  }
  if (isEmpty) throw new Impossible('nothing of it can be decoded');
}

function broken(error: unknown): never {
  if (error instanceof Impossible) throw error;
  throw new Impossible('the sound cannot be decoded', { cause: error });
}

async function* plain(track: InputAudioTrack): AsyncGenerator<Heard> {
  for await (const sample of new AudioSampleSink(track).samples()) {
    const { numberOfChannels, numberOfFrames, sampleRate } = sample;
    const channels = Array.from({ length: numberOfChannels }, (_, planeIndex) => {
      const channel = new Float32Array(numberOfFrames);
      sample.copyTo(channel, { planeIndex, format: 'f32-planar' });
      return channel;
    });
    sample.close();
    yield { samples: mixed(channels), sampleRate };
  }
}

async function* coded(track: InputAudioTrack, codec: AudioCodec | null, file: Uint8Array): AsyncGenerator<Heard> {
  const decoder = codec === null ? undefined : await DECODERS[codec]?.();
  if (decoder === undefined) throw new Impossible(`there is no decoder for ${codec ?? 'the codec'}`);
  // The decoders take what a codec is usually in by itself.
  const isBare = BARE_FORMATS.includes(await track.input.getFormat());
  try {
    await decoder.ready;
    for await (const bytes of isBare ? slices(file) : rewritten(track)) yield* samplesOf(await decoder.decode(bytes));
    if (decoder.flush !== undefined) yield* samplesOf(await decoder.flush());
  } finally {
    decoder.free();
  }
}

function* samplesOf({ channelData, sampleRate }: Decoded): Generator<Heard> {
  if ((channelData[0]?.length ?? 0) > 0) yield { samples: mixed(channelData), sampleRate };
}

function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels;
  if (others.length === 0) return first;
  return first.map((sample, at) => others.reduce((sum, other) => sum + (other[at] ?? 0), sample) / channels.length);
}

const DECODERS: Readonly<Partial<Record<AudioCodec, () => Promise<Decoder>>>> = {
  mp3: async () => new (await import('mpg123-decoder')).MPEGDecoder(),
  flac: async () => new (await import('@wasm-audio-decoders/flac')).FLACDecoder(),
  vorbis: async () => new (await import('@wasm-audio-decoders/ogg-vorbis')).OggVorbisDecoder(),
  opus: async () => new (await import('ogg-opus-decoder')).OggOpusDecoder(),
};

function* slices(file: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < file.length; at += SLICE_BYTES) yield file.subarray(at, at + SLICE_BYTES);
}

/** Takes the packets out of a container and puts them into what the codec is usually in by itself. */
async function* rewritten(track: InputAudioTrack): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  const writable = new WritableStream<Uint8Array>({
    write: (part) => {
      parts.push(part);
    },
  });
  const codec = await track.getCodec();
  const decoderConfig = await track.getDecoderConfig();
  if (codec === null || decoderConfig === null) throw new Impossible('its codec is not told');
  const source = new EncodedAudioPacketSource(codec);
  const format =
    codec === 'mp3'
      ? new Mp3OutputFormat({ xingHeader: false })
      : codec === 'flac'
        ? new FlacOutputFormat({ appendOnly: true })
        : new OggOutputFormat();
  const output = new Output({ format, target: new AppendOnlyStreamTarget(writable) });
  output.addAudioTrack(source);
  await output.start();
  let added = 0;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    await source.add(packet, { decoderConfig });
    if (++added % PACKETS_AT_ONCE === 0) yield Buffer.concat(parts.splice(0));
  }
  await output.finalize();
  yield Buffer.concat(parts.splice(0));
}

import {
  ALL_FORMATS,
  AppendOnlyStreamTarget,
  type AudioCodec,
  AudioSampleSink,
  BufferSource,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  FlacOutputFormat,
  Input,
  type InputAudioTrack,
  Logging,
  LogLevel,
  Mp3OutputFormat,
  OggOutputFormat,
  Output,
  PCM_AUDIO_CODECS,
} from 'mediabunny';
import { Impossible } from './serve.ts';

const SLICE_BYTES = 64 * 1024;
/** So many packets are written anew before they are decoded. */
const PACKETS_AT_ONCE = 64;
const PLAIN_CODECS: ReadonlySet<string | null> = new Set(PCM_AUDIO_CODECS);

// What is wrong with a recording is told to whoever sent it; the program's output is for its own log.
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
  try {
    yield* PLAIN_CODECS.has(codec) ? plain(track) : coded(track, codec, file);
  } catch (error) {
    broken(error);
  }
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
  const decoder = await decoderOf(codec);
  try {
    await decoder.ready;
    for await (const bytes of isBare(file) ? slices(file) : rewritten(track)) yield* heard(await decoder.decode(bytes));
    if (decoder.flush !== undefined) yield* heard(await decoder.flush());
  } finally {
    decoder.free();
  }
}

function* heard({ channelData, sampleRate }: Decoded): Generator<Heard> {
  if ((channelData[0]?.length ?? 0) > 0) yield { samples: mixed(channelData), sampleRate };
}

function mixed(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels;
  if (others.length === 0) return first;
  return first.map((sample, at) => others.reduce((sum, other) => sum + (other[at] ?? 0), sample) / channels.length);
}

async function decoderOf(codec: AudioCodec | null): Promise<Decoder> {
  switch (codec) {
    case 'mp3':
      return new (await import('mpg123-decoder')).MPEGDecoder();
    case 'flac':
      return new (await import('@wasm-audio-decoders/flac')).FLACDecoder();
    case 'vorbis':
      return new (await import('@wasm-audio-decoders/ogg-vorbis')).OggVorbisDecoder();
    case 'opus':
      return new (await import('ogg-opus-decoder')).OggOpusDecoder();
    default:
      throw new Impossible(`there is no decoder for ${codec ?? 'the codec'}`);
  }
}

/** The decoders take what the codec is usually in by itself. */
function isBare(file: Uint8Array): boolean {
  const name = Buffer.from(file.subarray(0, 4)).toString('latin1');
  const isContainer =
    name === '\u001a\u0045\u00df\u00a3' || Buffer.from(file.subarray(4, 8)).toString('latin1') === 'ftyp';
  return !isContainer && name !== 'RIFF';
}

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

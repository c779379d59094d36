import { addFlacFrames } from './flac.ts';
import { AAC_RATES, mpegFrame } from './frame-headers.ts';
import { opusSamples } from './opus.ts';
import { Tally } from './tally.ts';
import { bitsOf, type VorbisHeads } from './vorbis.ts';

/** How long the packets of one track of sound play, by what a decoder makes of each, whatever times stand beside them. */
export interface PacketCounter {
  /** How many bytes of each packet are looked at: none, its first ones, or all. */
  readonly look: number;
  /** `packet` begins with as much of it as is looked at; `times` of the same size where none is. */
  add(bytes: number, packet: Buffer, times?: number): void;
  seconds(): number;
}

export const NO_BYTES: Buffer = Buffer.alloc(0);

/** No decoder takes a longer packet. */
const OPUS_SAMPLES_MAX = 5760;

export function opusPackets(): PacketCounter {
  let samples = 0;
  const add = (bytes: number, packet: Buffer) => {
    if (bytes > 0) samples += Math.min(opusSamples(packet, 0), OPUS_SAMPLES_MAX);
  };
  return { look: 2, add, seconds: () => samples / 48_000 };
}

/** A block overlaps with half of each neighbour, so that all but the first and the last give half of their samples. */
export function vorbisPackets({ sampleRate, blockSamples, modes }: VorbisHeads): PacketCounter {
  const modeMask = 2 ** bitsOf(modes.length - 1) - 1;
  let samples = 0;
  let before: number | undefined;
  const add = (bytes: number, packet: Buffer) => {
    const first = packet[0] ?? 1;
    const isLong = modes[(first >>> 1) & modeMask];
    // An odd first byte is a header's.
    if (bytes === 0 || (first & 1) === 1 || isLong === undefined) return;
    const block = blockSamples[isLong ? 1 : 0];
    if (before !== undefined) samples += (before + block) / 4;
    before = block;
  };
  return { look: 1, add, seconds: () => samples / sampleRate };
}

/** A packet may hold several frames. */
export function mpegPackets(): PacketCounter {
  const tally = new Tally();
  const add = (_: number, packet: Buffer) => {
    for (let at = 0; at + 4 <= packet.length; ) {
      const frame = packet[at] === 0xff ? mpegFrame(packet, at) : undefined;
      if (frame !== undefined) tally.add(frame.samples, frame.sampleRate);
      at += frame?.bytes ?? 1;
    }
  };
  return { look: Number.POSITIVE_INFINITY, add, seconds: () => tally.seconds() };
}

export function flacPackets(streamRate: number): PacketCounter {
  const tally = new Tally();
  const add = (_: number, packet: Buffer) => addFlacFrames(packet, packet.length, streamRate, tally);
  return { look: Number.POSITIVE_INFINITY, add, seconds: () => tally.seconds() };
}

/** Every packet is a frame of so many samples, or as many as its bytes could be, where a frame has a largest size. */
export function framePackets(frame: {
  readonly samples: number;
  readonly sampleRate: number;
  readonly bytesMax?: number;
}): PacketCounter {
  const { samples, sampleRate, bytesMax = Number.POSITIVE_INFINITY } = frame;
  let frames = 0;
  const add = (bytes: number, _: Buffer, times = 1) => {
    frames += times * Math.max(1, Math.ceil(bytes / bytesMax));
  };
  return { look: 0, add, seconds: () => (frames * samples) / sampleRate };
}

/** Samples as they are, `frameBytes` for one of every channel. */
export function plainPackets(frameBytes: number, sampleRate: number): PacketCounter {
  return framePackets({ samples: 1, sampleRate, bytesMax: frameBytes });
}

/** The longest that one channel of a frame can be. */
const AAC_CHANNEL_BYTES_MAX = 768;

/** By what stands before the first frame of AAC in a container; undefined for a kind whose frames are not all alike. */
export function aacPackets(config: Buffer, channels: number): PacketCounter | undefined {
  if (config.length < 2) return undefined;
  const word = config.readUIntBE(0, Math.min(config.length, 6)) * 256 ** (6 - Math.min(config.length, 6));
  const bits = (start: number, count: number) => Math.floor(word / 2 ** (48 - start - count)) % 2 ** count;
  const kind = bits(0, 5);
  const rateCode = bits(5, 4);
  const sampleRate = rateCode === 15 ? bits(9, 24) : (AAC_RATES[rateCode] ?? 0);
  const samples = AAC_SAMPLES.get(kind);
  if (samples === undefined || sampleRate === 0) return undefined;
  return framePackets({ samples, sampleRate, bytesMax: AAC_CHANNEL_BYTES_MAX * Math.max(1, channels) });
}

/** By the kind of coding: those of the usual length, with and without what restores high frequencies, and short ones. */
const AAC_SAMPLES: ReadonlyMap<number, number> = new Map([
  ...[1, 2, 3, 4, 5, 6, 17, 19, 20, 22, 29].map((kind) => [kind, 1024] as const),
  ...[23, 39].map((kind) => [kind, 512] as const),
]);

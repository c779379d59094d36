import {
  aacPackets,
  flacPackets,
  mpegPackets,
  opusPackets,
  type PacketCounter,
  plainPackets,
  vorbisPackets,
} from './packets.ts';
import { readJoinedVorbisHeads } from './vorbis.ts';

/** What a track of Matroska tells of its sound. */
export interface SoundTrack {
  codec: string;
  /** What the codec has before its first packet. */
  setup: Buffer | undefined;
  sampleRate: number;
  channels: number;
  sampleBits: number;
  /** Its blocks are packed, so that nothing can be told from them. */
  isPacked: boolean;
}

/** Counts the packets of the track; undefined if it is of another coding. */
export function packetsOf(track: SoundTrack): PacketCounter | undefined {
  const { codec, setup, sampleRate, channels, sampleBits, isPacked } = track;
  if (isPacked) return undefined;
  if (codec === 'A_OPUS') return opusPackets();
  if (codec === 'A_VORBIS') return setup && vorbisPackets(readJoinedVorbisHeads(setup));
  if (/^A_MPEG\/L[23]$/.test(codec)) return mpegPackets();
  if (codec === 'A_FLAC') return sampleRate > 0 ? flacPackets(sampleRate) : undefined;
  if (codec === 'A_AAC') return setup && aacPackets(setup, channels);
  const frameBytes = channels * Math.ceil(sampleBits / 8);
  return codec.startsWith('A_PCM/') && frameBytes > 0 && sampleRate > 0
    ? plainPackets(frameBytes, sampleRate)
    : undefined;
}

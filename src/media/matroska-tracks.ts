import { isLaced } from './matroska-blocks.ts';
import type { SoundTrack } from './matroska-codecs.ts';
import { opusSamples } from './opus.ts';
import type { PacketCounter } from './packets.ts';
import type { Track } from './tracks.ts';

/** What the elements of a Matroska file tell, gathered as they come. Times are in units of `unitNs` unless named. */
export interface Recording {
  unitNs: number;
  /** As the file states it. */
  duration: number;
  readonly tracks: RecordedTrack[];
  readonly byNumber: Map<number, RecordedTrack>;
  clusterAt: number;
  /** The track of the block just read, if none of its blocks is later. */
  latest: RecordedTrack | undefined;
}

export interface RecordedTrack {
  kind: Track['kind'] | undefined;
  readonly sound: SoundTrack;
  /** Of what is heard, from its first block on; undefined if its packets are not counted. */
  counter: PacketCounter | undefined;
  width: number;
  height: number;
  /** Sound at the beginning that is decoded and not heard. */
  delayNs: number;
  /** Of one frame; 0 if not stated. */
  frameNs: number;
  blocks: number;
  firstAt: number;
  lastAt: number;
  /** Of all blocks but the last, in the order of their times. */
  beforeLastAt: number;
  /** How long the last block lasts, and how much of its end is not heard. */
  lastNs: number;
  discardedNs: number;
  /** In all blocks, of 48 000 a second, if every one tells. */
  opusSamples: number;
}

export function newRecording(): Recording {
  const recording = { unitNs: 1_000_000, duration: 0, clusterAt: 0, latest: undefined };
  return { ...recording, tracks: [], byNumber: new Map() };
}

export function newRecordedTrack(): RecordedTrack {
  const nothing = { codec: '', setup: undefined, sampleRate: 8000, channels: 1, sampleBits: 0, isPacked: false };
  const sound = { sound: nothing, counter: undefined };
  const stated = { kind: undefined, ...sound, width: 0, height: 0, delayNs: 0, frameNs: 0 };
  return { ...stated, blocks: 0, firstAt: 0, lastAt: 0, beforeLastAt: 0, lastNs: 0, discardedNs: 0, opusSamples: 0 };
}

/** At `offset`: the time of the block within its cluster, its flags, and the packet or how many there are. */
export function addBlock(recording: Recording, track: RecordedTrack, content: Buffer, offset: number): void {
  const at = recording.clusterAt + content.readInt16BE(offset);
  const hasLaces = isLaced(content.readUInt8(offset + 2));
  const samples = track.sound.codec === 'A_OPUS' && !hasLaces ? opusSamples(content, offset + 3) : Number.NaN;
  track.opusSamples += samples;
  if (track.blocks === 0 || at < track.firstAt) track.firstAt = at;
  const isLatest = track.blocks === 0 || at >= track.lastAt;
  track.blocks++;
  recording.latest = isLatest ? track : undefined;
  if (!isLatest) {
    track.beforeLastAt = Math.max(track.beforeLastAt, at);
    return;
  }
  track.beforeLastAt = track.lastAt;
  track.lastAt = at;
  track.discardedNs = 0;
  const frames = hasLaces ? (content[offset + 3] ?? 0) + 1 : 1;
  track.lastNs = track.frameNs > 0 ? track.frameNs * frames : Number.isNaN(samples) ? 0 : (samples * 1e9) / 48_000;
}

/** The tracks that hold pictures or sound, on the time line of the file. */
export function tracksOf(recording: Recording): Track[] {
  const lastAt = Math.max(...recording.tracks.map((track) => track.lastAt));
  return recording.tracks.flatMap((track) => {
    if (track.kind === undefined || track.blocks === 0) return [];
    const startSeconds = (track.firstAt * recording.unitNs) / 1e9;
    const endSeconds = startSeconds + heardSeconds(recording, track, track.lastAt === lastAt);
    const hasSize = track.kind === 'video' && track.width > 0 && track.height > 0;
    const size = hasSize ? { width: track.width, height: track.height } : {};
    const countedSeconds = track.counter?.seconds() ?? 0;
    const isCounted = track.kind === 'video' || track.counter !== undefined;
    return [{ kind: track.kind, startSeconds, endSeconds, countedSeconds, isCounted, ...size }];
  });
}

/** Time stamps are rounded, mostly to the millisecond. */
const ROUNDED_SECONDS_MAX = 0.01;
/** Longer than any codec needs. */
const DELAY_SECONDS_MAX = 2;

function heardSeconds(recording: Recording, track: RecordedTrack, isLast: boolean): number {
  const secondsPerUnit = recording.unitNs / 1e9;
  const last = lastSeconds(recording, track, isLast);
  const discarded = Math.min(Math.max(0, track.discardedNs / 1e9), last);
  const unheard = Math.min(track.delayNs / 1e9, DELAY_SECONDS_MAX) + discarded;
  const stamped = (track.lastAt - track.firstAt) * secondsPerUnit + last - unheard;
  const counted = track.opusSamples / 48_000 - unheard;
  // Fewer samples than time are a pause; more are time stamps that lie.
  return counted >= stamped - ROUNDED_SECONDS_MAX ? counted : stamped;
}

/**
 * A last block that does not tell how long it lasts is as long as the others, or ends where the file states its end if
 * that is about there.
 */
function lastSeconds({ unitNs, duration }: Recording, track: RecordedTrack, isLast: boolean): number {
  if (track.lastNs > 0) return track.lastNs / 1e9;
  const usual = usualUnits(track);
  const stated = duration - track.lastAt;
  const units = isLast && stated > 0 && (track.blocks === 1 || stated <= usual * 2) ? stated : usual;
  return (units * unitNs) / 1e9;
}

/** On average, unless there was a pause: then as long as the one before, or the average if the pause is between. */
function usualUnits({ blocks, firstAt, lastAt, beforeLastAt }: RecordedTrack): number {
  if (blocks < 2) return 0;
  const average = (lastAt - firstAt) / (blocks - 1);
  const before = lastAt - beforeLastAt;
  return Math.round(Math.abs(average - before) <= 1 ? average : Math.min(average, before));
}

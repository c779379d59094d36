import { opusSamples } from './opus.ts';
import type { Track } from './tracks.ts';

/** What the elements of a Matroska file tell, gathered as they come. Times are in units of `unitNs` unless named. */
export interface Film {
  unitNs: number;
  /** As the file states it. */
  duration: number;
  readonly tracks: FilmTrack[];
  readonly byNumber: Map<number, FilmTrack>;
  clusterAt: number;
  /** The track of the block just read, if none of its blocks is later. */
  latest: FilmTrack | undefined;
}

export interface FilmTrack {
  kind: Track['kind'] | undefined;
  isOpus: boolean;
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

export function newFilm(): Film {
  const film = { unitNs: 1_000_000, duration: 0, clusterAt: 0, latest: undefined };
  return { ...film, tracks: [], byNumber: new Map() };
}

export function newFilmTrack(): FilmTrack {
  const stated = { kind: undefined, isOpus: false, width: 0, height: 0, delayNs: 0, frameNs: 0 };
  return { ...stated, blocks: 0, firstAt: 0, lastAt: 0, beforeLastAt: 0, lastNs: 0, discardedNs: 0, opusSamples: 0 };
}

const LACING = 0x06;

/** At `offset`: the time of the block within its cluster, its flags, and the packet or how many there are. */
export function addBlock(film: Film, track: FilmTrack, content: Buffer, offset: number): void {
  const at = film.clusterAt + content.readInt16BE(offset);
  const isLaced = (content.readUInt8(offset + 2) & LACING) !== 0;
  const samples = track.isOpus && !isLaced ? opusSamples(content, offset + 3) : Number.NaN;
  track.opusSamples += samples;
  if (track.blocks === 0 || at < track.firstAt) track.firstAt = at;
  const isLatest = track.blocks === 0 || at >= track.lastAt;
  track.blocks++;
  film.latest = isLatest ? track : undefined;
  if (!isLatest) {
    track.beforeLastAt = Math.max(track.beforeLastAt, at);
    return;
  }
  track.beforeLastAt = track.lastAt;
  track.lastAt = at;
  track.discardedNs = 0;
  const frames = isLaced ? (content[offset + 3] ?? 0) + 1 : 1;
  track.lastNs = track.frameNs > 0 ? track.frameNs * frames : Number.isNaN(samples) ? 0 : (samples * 1e9) / 48_000;
}

/** The tracks that hold pictures or sound, on the time line of the file. */
export function tracksOf(film: Film): Track[] {
  const lastAt = Math.max(...film.tracks.map((track) => track.lastAt));
  return film.tracks.flatMap((track) => {
    if (track.kind === undefined || track.blocks === 0) return [];
    const startSeconds = (track.firstAt * film.unitNs) / 1e9;
    const endSeconds = startSeconds + heardSeconds(film, track, track.lastAt === lastAt);
    const hasSize = track.kind === 'video' && track.width > 0 && track.height > 0;
    const size = hasSize ? { width: track.width, height: track.height } : {};
    return [{ kind: track.kind, startSeconds, endSeconds, ...size }];
  });
}

/** Time stamps are rounded, mostly to the millisecond. */
const ROUNDED_SECONDS_MAX = 0.01;

function heardSeconds(film: Film, track: FilmTrack, isLast: boolean): number {
  const secondsPerUnit = film.unitNs / 1e9;
  const unheard = (track.delayNs + track.discardedNs) / 1e9;
  const stamped = (track.lastAt - track.firstAt) * secondsPerUnit + lastSeconds(film, track, isLast) - unheard;
  const counted = track.opusSamples / 48_000 - unheard;
  return Math.abs(counted - stamped) <= ROUNDED_SECONDS_MAX ? counted : stamped;
}

/**
 * A last block that does not tell how long it lasts is as long as the others, or ends where the file states its end if
 * that is about there.
 */
function lastSeconds({ unitNs, duration }: Film, track: FilmTrack, isLast: boolean): number {
  if (track.lastNs > 0) return track.lastNs / 1e9;
  const usual = usualUnits(track);
  const stated = duration - track.lastAt;
  const units = isLast && stated > 0 && (track.blocks === 1 || stated <= usual * 2) ? stated : usual;
  return (units * unitNs) / 1e9;
}

/** On average, unless there was a pause: then as long as the one before, or the average if the pause is between. */
function usualUnits({ blocks, firstAt, lastAt, beforeLastAt }: FilmTrack): number {
  if (blocks < 2) return 0;
  const average = (lastAt - firstAt) / (blocks - 1);
  const before = lastAt - beforeLastAt;
  return Math.round(Math.abs(average - before) <= 1 ? average : Math.min(average, before));
}

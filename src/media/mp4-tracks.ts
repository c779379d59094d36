import { Unreadable } from './buffered-reader.ts';
import { newTables, type PacketTables } from './mp4-packets.ts';
import type { Track } from './tracks.ts';

/** What the boxes of an MP4 tell, gathered as they come. */
export interface Movie {
  /** Of the edits of every track. */
  unitsPerSecond: number;
  /** In the order of the file; the last is the one being read. */
  readonly tracks: MovieTrack[];
  /** By track: how long a sample lasts where its fragment does not say. */
  readonly sampleUnits: Map<number, number>;
  readonly sampleBytes: Map<number, number>;
  /** What is being read of a fragment. */
  fragment: Fragment | undefined;
  /** Where the present one begins, and where what its last track has ends. */
  fragmentAt: number;
  fragmentDataEnd: number;
}

export interface Fragment {
  readonly track: MovieTrack;
  /** What a sample lasts and how large it is where it does not say itself. */
  readonly sampleUnits: number;
  readonly sampleBytes: number;
  /** What places are counted from, and where the next run begins unless it says otherwise. */
  readonly dataFrom: number;
  dataAt: number;
}

export interface MovieTrack {
  id: number;
  /** `vide`, `soun`, or what is neither seen nor heard. */
  kind: string;
  unitsPerSecond: number;
  width: number;
  height: number;
  isTurned: boolean;
  /** The sum of its samples. */
  units: number;
  /** How much later the first sample is shown than decoded, since others are decoded before their turn. */
  leadUnits: number | undefined;
  edits: readonly Edit[];
  /** From where to where its fragments reach, and where the next begins unless it says otherwise. */
  fragmentsFrom: number | undefined;
  fragmentsTo: number;
  nextFragmentAt: number;
  readonly packets: PacketTables;
}

export interface Edit {
  /** Of the movie; 0 is all that is left of the track. */
  readonly units: number;
  /** Of the track; below 0, nothing is shown. */
  readonly from: number;
}

export function newMovie(): Movie {
  const fragments = { fragment: undefined, fragmentAt: 0, fragmentDataEnd: 0 };
  return { unitsPerSecond: 0, tracks: [], sampleUnits: new Map(), sampleBytes: new Map(), ...fragments };
}

export function newTrack(): MovieTrack {
  const size = { width: 0, height: 0, isTurned: false };
  const fragments = { fragmentsFrom: undefined, fragmentsTo: 0, nextFragmentAt: 0 };
  return {
    id: 0,
    kind: '',
    unitsPerSecond: 0,
    ...size,
    units: 0,
    leadUnits: undefined,
    edits: [],
    ...fragments,
    packets: newTables(),
  };
}

/** The tracks that are seen or heard, on the movie's time line. */
export function tracksOf(movie: Movie): Track[] {
  return movie.tracks.flatMap((track) => {
    const kind = track.kind === 'vide' ? 'video' : track.kind === 'soun' ? 'audio' : undefined;
    const units = Math.max(track.units, track.fragmentsTo - (track.fragmentsFrom ?? 0));
    const countedSeconds = track.packets.counter?.seconds() ?? 0;
    if (kind === undefined || (units === 0 && countedSeconds === 0)) return [];
    if (track.unitsPerSecond === 0) throw new Unreadable('a track states no time scale');
    const { startSeconds, endSeconds } = edited(track, units, movie.unitsPerSecond);
    if (endSeconds <= startSeconds && countedSeconds === 0) return [];
    const [width, height] = track.isTurned ? [track.height, track.width] : [track.width, track.height];
    const size = kind === 'video' && width > 0 && height > 0 ? { width, height } : {};
    const isCounted = kind === 'video' || track.packets.counter !== undefined;
    return [{ kind, startSeconds, endSeconds, countedSeconds, isCounted, ...size }];
  });
}

/** What the edit list leaves of a track and where. An edit that wants more than there is gets what there is. */
function edited(
  track: MovieTrack,
  units: number,
  editUnitsPerSecond: number,
): Pick<Track, 'startSeconds' | 'endSeconds'> {
  const whole = units / track.unitsPerSecond;
  if (track.edits.length === 0) return { startSeconds: 0, endSeconds: whole };
  if (editUnitsPerSecond === 0) throw new Unreadable('the movie states no time scale');
  let startSeconds: number | undefined;
  let endSeconds = 0;
  for (const edit of track.edits) {
    const editSeconds = edit.units / editUnitsPerSecond;
    if (edit.from < 0) {
      endSeconds += editSeconds;
      continue;
    }
    startSeconds ??= endSeconds;
    const left = whole - Math.max(0, edit.from - (track.leadUnits ?? 0)) / track.unitsPerSecond;
    // Edits are rounded to the movie's coarser scale.
    const isAll = edit.units === 0 || editSeconds > left - 1 / editUnitsPerSecond;
    endSeconds += Math.max(0, isAll ? left : editSeconds);
  }
  return { startSeconds: startSeconds ?? endSeconds, endSeconds };
}

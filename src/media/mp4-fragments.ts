import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { type Box, contentOf, eachRow, isLongForm, readLong } from './mp4-boxes.ts';
import type { Movie, MovieTrack } from './mp4-tracks.ts';
import { Unreadable, type Window } from './readable.ts';

/** The boxes of an MP4 that is written in fragments, each with an index of its own samples only. */

export function readTrackDefaults(movie: Movie, box: Box): undefined {
  const content = contentOf(box, 16);
  movie.sampleUnits.set(content.readUInt32BE(4), content.readUInt32BE(12));
  if (movie.sampleUnits.size > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
}

const HAS_DATA_OFFSET = 1;
const HAS_DESCRIPTION = 2;
const HAS_SAMPLE_UNITS = 8;

export function readFragmentHeader(movie: Movie, box: Box): undefined {
  const content = contentOf(box, 8);
  const flags = content.readUInt32BE(0);
  const id = content.readUInt32BE(4);
  const track = movie.tracks.find((known) => known.id === id);
  const at = 8 + ((flags & HAS_DATA_OFFSET) !== 0 ? 8 : 0) + ((flags & HAS_DESCRIPTION) !== 0 ? 4 : 0);
  const hasUnits = (flags & HAS_SAMPLE_UNITS) !== 0;
  const sampleUnits = hasUnits ? contentOf(box, at + 4).readUInt32BE(at) : (movie.sampleUnits.get(id) ?? 0);
  movie.fragment = track === undefined ? undefined : { track, sampleUnits };
}

export function readFragmentTime({ fragment }: Movie, box: Box): undefined {
  const isLong = isLongForm(box.content);
  const content = contentOf(box, isLong ? 12 : 8);
  if (fragment !== undefined) fragment.track.nextFragmentAt = isLong ? readLong(content, 4) : content.readUInt32BE(4);
}

const RUN_HAS_DATA_OFFSET = 1;
const RUN_HAS_FIRST_FLAGS = 4;
const RUN_HAS_UNITS = 0x100;
const RUN_HAS_LEAD = 0x800;
const RUN_ROW_FIELDS = [RUN_HAS_UNITS, 0x200, 0x400, RUN_HAS_LEAD];

export function readRun({ fragment }: Movie, box: Box, window: Window): Promise<undefined> | undefined {
  if (fragment === undefined) return undefined;
  const { track, sampleUnits } = fragment;
  const content = contentOf(box, 8);
  const flags = content.readUInt32BE(0);
  const has = (flag: number) => (flags & flag) !== 0;
  const rows = content.readUInt32BE(4);
  const start = 8 + (has(RUN_HAS_DATA_OFFSET) ? 4 : 0) + (has(RUN_HAS_FIRST_FLAGS) ? 4 : 0);
  const rowBytes = 4 * RUN_ROW_FIELDS.filter(has).length;
  track.fragmentsFrom ??= track.nextFragmentAt;
  if (!has(RUN_HAS_UNITS)) addSamples(track, rows * sampleUnits);
  return eachRow(window, box, { start, rows, rowBytes }, (view, offset) => {
    if (has(RUN_HAS_UNITS)) addSamples(track, view.readUInt32BE(offset));
    if (has(RUN_HAS_LEAD)) track.leadUnits ??= view.readInt32BE(offset + rowBytes - 4);
  });
}

function addSamples(track: MovieTrack, units: number): void {
  track.units += units;
  track.nextFragmentAt += units;
  track.fragmentsTo = Math.max(track.fragmentsTo, track.nextFragmentAt);
}

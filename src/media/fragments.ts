import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { type Box, contentOf, eachRow, isLongForm, readLong } from './boxes.ts';
import type { Movie } from './movie.ts';
import { Unreadable, type Window } from './readable.ts';

/** The boxes of an MP4 that is written in fragments, each with an index of its own samples only. */

export async function readTrackDefaults(window: Window, box: Box, movie: Movie): Promise<void> {
  const content = await contentOf(window, box, 16);
  movie.sampleUnits.set(content.readUInt32BE(4), content.readUInt32BE(12));
  if (movie.sampleUnits.size > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
}

const HAS_DATA_OFFSET = 1;
const HAS_DESCRIPTION = 2;
const HAS_SAMPLE_UNITS = 8;

export async function readFragmentHeader(window: Window, box: Box, movie: Movie): Promise<void> {
  const head = await contentOf(window, box, 8);
  const flags = head.readUInt32BE(0);
  const id = head.readUInt32BE(4);
  const track = movie.tracks.find((known) => known.id === id);
  movie.fragment = undefined;
  if (track === undefined) return;
  const at = 8 + ((flags & HAS_DATA_OFFSET) !== 0 ? 8 : 0) + ((flags & HAS_DESCRIPTION) !== 0 ? 4 : 0);
  const hasUnits = (flags & HAS_SAMPLE_UNITS) !== 0;
  const sampleUnits = hasUnits
    ? (await contentOf(window, box, at + 4)).readUInt32BE(at)
    : (movie.sampleUnits.get(id) ?? 0);
  movie.fragment = { track, sampleUnits };
}

export async function readFragmentTime(window: Window, box: Box, movie: Movie): Promise<void> {
  const isLong = isLongForm(await contentOf(window, box, 4));
  const content = await contentOf(window, box, isLong ? 12 : 8);
  if (movie.fragment === undefined) return;
  movie.fragment.track.nextFragmentAt = isLong ? readLong(content, 4) : content.readUInt32BE(4);
}

const RUN_HAS_UNITS = 0x100;
const RUN_HAS_LEAD = 0x800;
const RUN_ROW_FIELDS = [RUN_HAS_UNITS, 0x200, 0x400, RUN_HAS_LEAD];

export async function readRun(window: Window, box: Box, movie: Movie): Promise<void> {
  if (movie.fragment === undefined) return;
  const { track, sampleUnits } = movie.fragment;
  const head = await contentOf(window, box, 8);
  const flags = head.readUInt32BE(0);
  const rows = head.readUInt32BE(4);
  const at = box.at + 8 + ((flags & 1) !== 0 ? 4 : 0) + ((flags & 4) !== 0 ? 4 : 0);
  const rowBytes = 4 * RUN_ROW_FIELDS.filter((field) => (flags & field) !== 0).length;
  const hasUnits = (flags & RUN_HAS_UNITS) !== 0;
  const hasLead = (flags & RUN_HAS_LEAD) !== 0;
  let units = hasUnits ? 0 : rows * sampleUnits;
  await eachRow(window, { at, end: box.end, rows, rowBytes }, (view, offset) => {
    if (hasUnits) units += view.readUInt32BE(offset);
    if (hasLead) track.leadUnits ??= view.readInt32BE(offset + rowBytes - 4);
  });
  track.units += units;
  track.fragmentsFrom ??= track.nextFragmentAt;
  track.nextFragmentAt += units;
  track.fragmentsTo = Math.max(track.fragmentsTo, track.nextFragmentAt);
}

import { MEDIA_RUN_PACKETS_MAX, MEDIA_TRACKS_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { type Box, boxContent, eachRow, isLongForm, readLong } from './mp4-boxes.ts';
import { PacketReader } from './mp4-packets.ts';
import type { Fragment, Movie, MovieTrack } from './mp4-tracks.ts';
import { NO_BYTES, type PacketCounter } from './packets.ts';

/** The boxes of an MP4 that is written in fragments, each with an index of its own samples only. */

export function readTrackDefaults(movie: Movie, box: Box): undefined {
  const content = boxContent(box, 20);
  movie.sampleUnits.set(content.readUInt32BE(4), content.readUInt32BE(12));
  movie.sampleBytes.set(content.readUInt32BE(4), content.readUInt32BE(16));
  if (movie.sampleUnits.size > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
}

/** Where the media of the first track begins to be counted from, unless it says otherwise. */
export function enterFragment(movie: Movie, box: Box): 'enter' {
  movie.fragmentAt = box.start;
  movie.fragmentDataEnd = movie.fragmentAt;
  return 'enter';
}

const HAS_DATA_OFFSET = 1;
const HAS_DESCRIPTION = 2;
const HAS_SAMPLE_UNITS = 8;
const HAS_SAMPLE_BYTES = 0x10;
const COUNTS_FROM_FRAGMENT = 0x20000;

export function readFragmentHeader(movie: Movie, box: Box): undefined {
  const content = boxContent(box, 8);
  const flags = content.readUInt32BE(0);
  const id = content.readUInt32BE(4);
  const track = movie.tracks.find((known) => known.id === id);
  let at = 8;
  const field = (flag: number, bytes: number) => {
    const start = at;
    if ((flags & flag) === 0) return undefined;
    at += bytes;
    return boxContent(box, at).subarray(start, at);
  };
  const place = field(HAS_DATA_OFFSET, 8);
  field(HAS_DESCRIPTION, 4);
  const sampleUnits = field(HAS_SAMPLE_UNITS, 4)?.readUInt32BE(0) ?? movie.sampleUnits.get(id) ?? 0;
  const sampleBytes = field(HAS_SAMPLE_BYTES, 4)?.readUInt32BE(0) ?? movie.sampleBytes.get(id) ?? 0;
  const isOfFragment = (flags & COUNTS_FROM_FRAGMENT) !== 0;
  const dataFrom = place ? readLong(place, 0) : isOfFragment ? movie.fragmentAt : movie.fragmentDataEnd;
  movie.fragment = track && { track, sampleUnits, sampleBytes, dataFrom, dataAt: dataFrom };
}

export function readFragmentTime({ fragment }: Movie, box: Box): undefined {
  const isLong = isLongForm(box.content);
  const content = boxContent(box, isLong ? 12 : 8);
  if (fragment !== undefined) fragment.track.nextFragmentAt = isLong ? readLong(content, 4) : content.readUInt32BE(4);
}

const RUN_HAS_DATA_OFFSET = 1;
const RUN_HAS_FIRST_FLAGS = 4;
const RUN_HAS_UNITS = 0x100;
const RUN_HAS_BYTES = 0x200;
const RUN_HAS_LEAD = 0x800;
const RUN_ROW_FIELDS = [RUN_HAS_UNITS, RUN_HAS_BYTES, 0x400, RUN_HAS_LEAD];

export function readRun(movie: Movie, box: Box, reader: BufferedReader): Promise<undefined> | undefined {
  const { fragment } = movie;
  if (fragment === undefined) return undefined;
  const { track, sampleUnits } = fragment;
  const content = boxContent(box, 8);
  const flags = content.readUInt32BE(0);
  const has = (flag: number) => (flags & flag) !== 0;
  const rows = content.readUInt32BE(4);
  const start = 8 + (has(RUN_HAS_DATA_OFFSET) ? 4 : 0) + (has(RUN_HAS_FIRST_FLAGS) ? 4 : 0);
  const rowBytes = 4 * RUN_ROW_FIELDS.filter(has).length;
  track.fragmentsFrom ??= track.nextFragmentAt;
  if (!has(RUN_HAS_UNITS)) addSamples(track, rows * sampleUnits);
  if (has(RUN_HAS_DATA_OFFSET)) fragment.dataAt = fragment.dataFrom + boxContent(box, 12).readInt32BE(8);
  const sizes = new RunSizes(fragment);
  const bytesAt = has(RUN_HAS_UNITS) ? 4 : 0;
  const read = eachRow(reader, box, { start, rows, rowBytes }, (view, offset) => {
    if (has(RUN_HAS_UNITS)) addSamples(track, view.readUInt32BE(offset));
    if (has(RUN_HAS_LEAD)) track.leadUnits ??= view.readInt32BE(offset + rowBytes - 4);
    if (has(RUN_HAS_BYTES)) sizes.add(view.readUInt32BE(offset + bytesAt));
  });
  const end = () => {
    if (!has(RUN_HAS_BYTES)) sizes.addFixed(rows);
    const counted = sizes.count(reader);
    const tell = (): undefined => {
      movie.fragmentDataEnd = fragment.dataAt;
    };
    return counted === undefined ? tell() : counted.then(tell);
  };
  return read === undefined ? end() : read.then(end);
}

/** The packets of one run. Their sizes are kept until they are looked at, if they have to be. */
class RunSizes {
  readonly #fragment: Fragment;
  readonly #counter: PacketCounter | undefined;
  readonly #sizes: number[] = [];

  constructor(fragment: Fragment) {
    this.#fragment = fragment;
    this.#counter = fragment.track.packets.counter;
  }

  add(bytes: number): void {
    if (this.#counter !== undefined && this.#counter.look > 0) {
      if (this.#sizes.push(bytes) > MEDIA_RUN_PACKETS_MAX) throw new Unreadable('too long a run');
      return;
    }
    this.#counter?.add(bytes, NO_BYTES);
    this.#fragment.dataAt += bytes;
  }

  addFixed(rows: number): void {
    const { sampleBytes } = this.#fragment;
    if (this.#counter !== undefined && this.#counter.look > 0) {
      for (let row = 0; row < rows; row++) this.add(sampleBytes);
      return;
    }
    this.#counter?.add(sampleBytes, NO_BYTES, rows);
    this.#fragment.dataAt += sampleBytes * rows;
  }

  /** Undefined if there is nothing to be looked at. */
  count(reader: BufferedReader): Promise<void> | undefined {
    if (this.#counter === undefined || this.#sizes.length === 0) return undefined;
    return this.#look(new PacketReader(reader, this.#counter));
  }

  async #look(reader: PacketReader): Promise<void> {
    reader.at = this.#fragment.dataAt;
    for (const bytes of this.#sizes) if (!reader.take(bytes)) await reader.fetch(bytes);
    this.#fragment.dataAt = reader.at;
  }
}

function addSamples(track: MovieTrack, units: number): void {
  track.units += units;
  track.nextFragmentAt += units;
  track.fragmentsTo = Math.max(track.fragmentsTo, track.nextFragmentAt);
}

import { MEDIA_EDITS_MAX, MEDIA_TRACKS_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import type { Measured } from './measured.ts';
import {
  type Box,
  type BoxReader,
  boxContent,
  boxType,
  eachRow,
  isLongForm,
  readBoxes,
  readLong,
} from './mp4-boxes.ts';
import { enterFragment, readFragmentHeader, readFragmentTime, readRun, readTrackDefaults } from './mp4-fragments.ts';
import { countListed, describe, readRuns, readSizes } from './mp4-packets.ts';
import { type Edit, type Movie, type MovieTrack, newMovie, newTrack, tracksOf } from './mp4-tracks.ts';
import { measureTracks } from './tracks.ts';

const LONG_CHUNKS = boxType('co64');

const enter: BoxReader = () => 'enter';

const READERS: ReadonlyMap<number, BoxReader> = new Map(
  Object.entries<BoxReader>({
    moov: enter,
    mvhd: readMovieHeader,
    trak: enterTrack,
    tkhd: readTrackHeader,
    edts: enter,
    elst: readEdits,
    mdia: enter,
    mdhd: readMediaHeader,
    hdlr: readKind,
    minf: enter,
    stbl: enter,
    stsd: readDescription,
    stts: readTimes,
    ctts: readLead,
    stsz: (movie, box, reader) => readSizes(current(movie), box, reader),
    stz2: (movie, box, reader) => readSizes(current(movie), box, reader),
    stsc: (movie, box) => readRuns(current(movie), box),
    stco: readChunks,
    co64: readChunks,
    mvex: enter,
    trex: readTrackDefaults,
    moof: enterFragment,
    traf: enter,
    tfhd: readFragmentHeader,
    tfdt: readFragmentTime,
    trun: readRun,
  }).map(([letters, reader]) => [boxType(letters), reader]),
);

/**
 * MP4, M4A and MOV, whole or in fragments, the index before or behind the media. The length is that of the samples
 * which the index lists, as the edit lists cut them, or that of the packets of sound if they play longer; the durations
 * that headers state are not looked at.
 */
export async function measureMp4(reader: BufferedReader): Promise<Measured> {
  const movie = newMovie();
  await readBoxes(reader, READERS, movie);
  for (const track of movie.tracks) if (track.kind === 'soun') await countListed(track, reader);
  return measureTracks(tracksOf(movie));
}

function enterTrack({ tracks }: Movie): 'enter' {
  if (tracks.push(newTrack()) > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
  return 'enter';
}

/** The track whose boxes are being read. */
function current({ tracks }: Movie): MovieTrack {
  const track = tracks.at(-1);
  if (track === undefined) throw new Unreadable('a box of a track is in none');
  return track;
}

function readMovieHeader(movie: Movie, box: Box): undefined {
  const content = boxContent(box, 24);
  movie.unitsPerSecond = content.readUInt32BE(isLongForm(content) ? 20 : 12);
}

function readTrackHeader(movie: Movie, box: Box): undefined {
  const isLong = isLongForm(box.content);
  const content = boxContent(box, isLong ? 96 : 84);
  const matrix = isLong ? 52 : 40;
  const track = current(movie);
  track.id = content.readUInt32BE(isLong ? 20 : 12);
  track.isTurned = content.readInt32BE(matrix) === 0 && content.readInt32BE(matrix + 4) !== 0;
}

function readMediaHeader(movie: Movie, box: Box): undefined {
  const content = boxContent(box, 24);
  current(movie).unitsPerSecond = content.readUInt32BE(isLongForm(content) ? 20 : 12);
}

/** The first one is the track's; QuickTime has a second, for where the data lies. */
function readKind(movie: Movie, box: Box): undefined {
  current(movie).kind ||= boxContent(box, 12).toString('latin1', 8, 12);
}

function readDescription(movie: Movie, box: Box, reader: BufferedReader): Promise<undefined> | undefined {
  const track = current(movie);
  if (track.kind !== 'vide') return describe(track, box, reader);
  const content = boxContent(box, 44);
  track.width = content.readUInt16BE(40);
  track.height = content.readUInt16BE(42);
  return undefined;
}

function readTimes(movie: Movie, box: Box, reader: BufferedReader): Promise<undefined> | undefined {
  const track = current(movie);
  const rows = boxContent(box, 8).readUInt32BE(4);
  return eachRow(reader, box, { start: 8, rows, rowBytes: 8 }, (view, offset) => {
    track.units += view.readUInt32BE(offset) * view.readUInt32BE(offset + 4);
  });
}

function readLead(movie: Movie, box: Box): undefined {
  if (boxContent(box, 8).readUInt32BE(4) > 0) current(movie).leadUnits = boxContent(box, 16).readInt32BE(12);
}

function readEdits(movie: Movie, box: Box, reader: BufferedReader): Promise<undefined> | undefined {
  const content = boxContent(box, 8);
  const isLong = isLongForm(content);
  const rows = content.readUInt32BE(4);
  if (rows > MEDIA_EDITS_MAX) throw new Unreadable('too many edits');
  const edits: Edit[] = [];
  current(movie).edits = edits;
  return eachRow(reader, box, { start: 8, rows, rowBytes: isLong ? 20 : 12 }, (view, offset) => {
    if (!isLong) edits.push({ units: view.readUInt32BE(offset), from: view.readInt32BE(offset + 4) });
    else edits.push({ units: readLong(view, offset), from: Number(view.readBigInt64BE(offset + 8)) });
  });
}

/** Where the media lies: all of it must be in the file. */
function readChunks(movie: Movie, box: Box, reader: BufferedReader): Promise<undefined> | undefined {
  const rows = boxContent(box, 8).readUInt32BE(4);
  const isLong = box.type === LONG_CHUNKS;
  current(movie).packets.chunks = { at: box.at + 8, rows, rowBytes: isLong ? 8 : 4 };
  return eachRow(reader, box, { start: 8, rows, rowBytes: isLong ? 8 : 4 }, (view, offset) => {
    const chunkAt = isLong ? readLong(view, offset) : view.readUInt32BE(offset);
    if (chunkAt >= reader.bytes) throw new Unreadable('the media ends early');
  });
}

import { MEDIA_TRACKS_MAX } from '../limits.ts';
import { type Box, boxType, contentOf, eachBox, eachRow, isLongForm, readLong } from './boxes.ts';
import { readFragmentHeader, readFragmentTime, readRun, readTrackDefaults } from './fragments.ts';
import type { Measured } from './measured.ts';
import { type Edit, type Movie, type MovieTrack, newMovie, newTrack, tracksOf } from './movie.ts';
import { Unreadable, type Window } from './readable.ts';
import { measureTracks } from './tracks.ts';

type BoxReader = (window: Window, box: Box, movie: Movie) => Promise<void>;

const TRACK = boxType('trak');
const LONG_CHUNKS = boxType('co64');
const CONTAINERS = new Set(['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf'].map(boxType));
const DEPTH_MAX = 8;
const EDITS_MAX = 10_000;

const READERS: ReadonlyMap<number, BoxReader> = new Map(
  Object.entries({
    mvhd: readMovieHeader,
    tkhd: readTrackHeader,
    elst: readEdits,
    mdhd: readMediaHeader,
    hdlr: readHandler,
    stsd: readDescription,
    stts: readTimes,
    ctts: readLead,
    stco: readChunks,
    co64: readChunks,
    trex: readTrackDefaults,
    tfhd: readFragmentHeader,
    tfdt: readFragmentTime,
    trun: readRun,
  }).map(([letters, reader]) => [boxType(letters), reader]),
);

/**
 * MP4, M4A and MOV, whole or in fragments, the index before or behind the media. The length is that of the samples
 * which the index lists, as the edit lists cut them; the durations that headers state are not looked at.
 */
export async function measureMp4(window: Window): Promise<Measured> {
  const movie = newMovie();
  await readBoxes(window, { type: 0, at: 0, end: window.bytes }, movie, 0);
  return measureTracks(tracksOf(movie));
}

async function readBoxes(window: Window, parent: Box, movie: Movie, depth: number): Promise<void> {
  if (depth > DEPTH_MAX) throw new Unreadable('boxes are nested too deep');
  await eachBox(window, parent, (box) => {
    if (!CONTAINERS.has(box.type)) return READERS.get(box.type)?.(window, box, movie);
    if (box.type === TRACK && movie.tracks.push(newTrack()) > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
    return readBoxes(window, box, movie, depth + 1);
  });
}

/** The track whose boxes are being read. */
function current({ tracks }: Movie): MovieTrack {
  const track = tracks.at(-1);
  if (track === undefined) throw new Unreadable('a box of a track is in none');
  return track;
}

async function readMovieHeader(window: Window, box: Box, movie: Movie): Promise<void> {
  const content = await contentOf(window, box, 24);
  movie.unitsPerSecond = content.readUInt32BE(isLongForm(content) ? 20 : 12);
}

async function readTrackHeader(window: Window, box: Box, movie: Movie): Promise<void> {
  const isLong = isLongForm(await contentOf(window, box, 4));
  const content = await contentOf(window, box, isLong ? 96 : 84);
  const matrix = isLong ? 52 : 40;
  const track = current(movie);
  track.id = content.readUInt32BE(isLong ? 20 : 12);
  track.isTurned = content.readInt32BE(matrix) === 0 && content.readInt32BE(matrix + 4) !== 0;
}

async function readMediaHeader(window: Window, box: Box, movie: Movie): Promise<void> {
  const content = await contentOf(window, box, 24);
  current(movie).unitsPerSecond = content.readUInt32BE(isLongForm(content) ? 20 : 12);
}

/** The first one is the track's; QuickTime has a second, for where the data lies. */
async function readHandler(window: Window, box: Box, movie: Movie): Promise<void> {
  current(movie).handler ||= (await contentOf(window, box, 12)).toString('latin1', 8, 12);
}

async function readDescription(window: Window, box: Box, movie: Movie): Promise<void> {
  const track = current(movie);
  if (track.handler !== 'vide') return;
  const content = await contentOf(window, box, 44);
  track.width = content.readUInt16BE(40);
  track.height = content.readUInt16BE(42);
}

async function readTimes(window: Window, box: Box, movie: Movie): Promise<void> {
  const rows = (await contentOf(window, box, 8)).readUInt32BE(4);
  let units = 0;
  await eachRow(window, { at: box.at + 8, end: box.end, rows, rowBytes: 8 }, (view, offset) => {
    units += view.readUInt32BE(offset) * view.readUInt32BE(offset + 4);
  });
  current(movie).units += units;
}

async function readLead(window: Window, box: Box, movie: Movie): Promise<void> {
  if ((await contentOf(window, box, 8)).readUInt32BE(4) === 0) return;
  current(movie).leadUnits = (await contentOf(window, box, 16)).readInt32BE(12);
}

async function readEdits(window: Window, box: Box, movie: Movie): Promise<void> {
  const head = await contentOf(window, box, 8);
  const isLong = isLongForm(head);
  const rows = head.readUInt32BE(4);
  if (rows > EDITS_MAX) throw new Unreadable('too many edits');
  const edits: Edit[] = [];
  await eachRow(window, { at: box.at + 8, end: box.end, rows, rowBytes: isLong ? 20 : 12 }, (view, offset) => {
    if (!isLong) edits.push({ units: view.readUInt32BE(offset), from: view.readInt32BE(offset + 4) });
    else edits.push({ units: readLong(view, offset), from: Number(view.readBigInt64BE(offset + 8)) });
  });
  current(movie).edits = edits;
}

/** Where the media lies: its last piece must be in the file. */
async function readChunks(window: Window, box: Box): Promise<void> {
  const rows = (await contentOf(window, box, 8)).readUInt32BE(4);
  const rowBytes = box.type === LONG_CHUNKS ? 8 : 4;
  if (box.at + 8 + rows * rowBytes > box.end) throw new Unreadable('a table is longer than its box');
  if (rows === 0) return;
  const view = await window.from(box.at + 8 + (rows - 1) * rowBytes, rowBytes);
  const chunkAt = rowBytes === 8 ? readLong(view, 0) : view.readUInt32BE(0);
  if (chunkAt >= window.bytes) throw new Unreadable('the media ends early');
}

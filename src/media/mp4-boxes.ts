import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import type { Movie } from './mp4-tracks.ts';

/** A box of MP4. */
export interface Box {
  /** Its four letters as a number. */
  readonly type: number;
  /** Where it begins. */
  readonly start: number;
  /** Where its content begins and ends. */
  readonly at: number;
  readonly end: number;
  /** As much of its content as is held: BOX_LOOK_BYTES, all of a shorter one, or more. */
  readonly content: Buffer;
}

/** Takes from a box what it tells of the movie: at once, or waiting if that is long. Or has the boxes inside it read. */
export type BoxReader = (movie: Movie, box: Box, reader: BufferedReader) => Promise<undefined> | 'enter' | undefined;

const HEAD_BYTES = 8;
const LONG_HEAD_BYTES = 16;
const BOX_LOOK_BYTES = 96;
const DEPTH_MAX = 8;

export function boxType(letters: string): number {
  return Buffer.from(letters, 'latin1').readUInt32BE(0);
}

/** Gives every box of the file to the reader of its type, in order. */
export async function readBoxes(
  reader: BufferedReader,
  readers: ReadonlyMap<number, BoxReader>,
  movie: Movie,
): Promise<void> {
  const ends = [reader.bytes];
  const range = { start: 0, end: reader.bytes, need: HEAD_BYTES, want: LONG_HEAD_BYTES + BOX_LOOK_BYTES };
  await reader.walk(range, (view, offset, at) => {
    const end = innermost(ends, at);
    // A list of boxes may end with a word of zeros.
    if (end - at < HEAD_BYTES) return end - at;
    const { headBytes, bytes } = sizeOf(view, offset, end - at);
    if (bytes < headBytes || bytes > end - at) throw new Unreadable(`the box at byte ${at} does not fit`);
    const type = view.readUInt32BE(offset + 4);
    const readBox = readers.get(type);
    if (readBox === undefined) return bytes;
    const content = view.subarray(offset + headBytes, offset + bytes);
    const outcome = readBox(movie, { type, start: at, at: at + headBytes, end: at + bytes, content }, reader);
    if (outcome === undefined) return bytes;
    if (outcome !== 'enter') return outcome.then(() => bytes);
    if (ends.push(at + bytes) > DEPTH_MAX) throw new Unreadable('boxes are nested too deep');
    return headBytes;
  });
}

/** The end of the box that this place is in. */
function innermost(ends: number[], at: number): number {
  let end = ends.at(-1) ?? 0;
  while (at >= end && ends.length > 1) {
    ends.pop();
    end = ends.at(-1) ?? 0;
  }
  return end;
}

function sizeOf(view: Buffer, offset: number, rest: number): { headBytes: number; bytes: number } {
  const size = view.readUInt32BE(offset);
  if (size === 1 && rest >= LONG_HEAD_BYTES) return { headBytes: LONG_HEAD_BYTES, bytes: readLong(view, offset + 8) };
  return { headBytes: HEAD_BYTES, bytes: size === 0 ? rest : size };
}

/** The first bytes of a box's content, at most BOX_LOOK_BYTES. */
export function boxContent({ at, content }: Box, bytes: number): Buffer {
  if (content.length < bytes) throw new Unreadable(`the box at byte ${at} is too short`);
  return content;
}

export interface Table {
  /** Where in the content it begins. */
  readonly start: number;
  readonly rows: number;
  readonly rowBytes: number;
}

/** Every row of a table; `visit` is told in which buffer and where. */
export function eachRow(
  reader: BufferedReader,
  box: Box,
  { start, rows, rowBytes }: Table,
  visit: (view: Buffer, offset: number) => void,
): Promise<undefined> | undefined {
  const bytes = start + rows * rowBytes;
  if (bytes > box.end - box.at) throw new Unreadable('a table is longer than its box');
  if (rowBytes === 0) return undefined;
  const visitHeld = (view: Buffer, from: number, to: number) => {
    let offset = from;
    for (; offset + rowBytes <= to; offset += rowBytes) visit(view, offset);
    return offset - from;
  };
  if (bytes <= box.content.length) {
    visitHeld(box.content, start, bytes);
    return undefined;
  }
  const end = box.at + bytes;
  const range = { start: box.at + start, end, need: rowBytes };
  return reader
    .walk(range, (view, offset, at) => visitHeld(view, offset, Math.min(view.length, offset + end - at)))
    .then(() => undefined);
}

/** Version 1 of a box has its times in eight bytes each. */
export function isLongForm(content: Buffer): boolean {
  return content[0] === 1;
}

export function readLong(view: Buffer, at: number): number {
  return view.readUInt32BE(at) * 2 ** 32 + view.readUInt32BE(at + 4);
}

import type { Movie } from './movie.ts';
import { Unreadable, type Window } from './readable.ts';

/** A box of MP4, by where its content lies. */
export interface Box {
  readonly type: string;
  readonly at: number;
  readonly end: number;
}

/** Takes from a box what it tells of the movie. */
export type BoxReader = (window: Window, box: Box, movie: Movie) => Promise<void>;

/** Every box inside another, in order. One that reaches beyond is a file cut short. */
export async function eachBox(
  window: Window,
  parent: Box,
  visit: (box: Box) => Promise<void> | undefined,
): Promise<void> {
  for (let at = parent.at; at + 8 <= parent.end; ) {
    const least = Math.min(16, parent.end - at);
    const box = readBox(window.held(at, least) ?? (await window.from(at, least)), at, parent.end);
    const visited = visit(box);
    if (visited !== undefined) await visited;
    at = box.end;
  }
}

function readBox(view: Buffer, start: number, end: number): Box {
  const size = view.readUInt32BE(0);
  const isLong = size === 1 && view.length >= 16;
  const bytes = isLong ? readLong(view, 8) : size === 0 ? end - start : size;
  const headBytes = isLong ? 16 : 8;
  if (bytes < headBytes || start + bytes > end) throw new Unreadable(`the box at byte ${start} does not fit`);
  return { type: view.toString('latin1', 4, 8), at: start + headBytes, end: start + bytes };
}

/** The first bytes of a box's content. */
export async function contentOf(window: Window, box: Box, bytes: number): Promise<Buffer> {
  if (box.at + bytes > box.end) throw new Unreadable(`the box "${box.type}" is too short`);
  return (await window.from(box.at, bytes)).subarray(0, bytes);
}

/** Rows of a table of fixed width, as many as are stated and as the box holds. */
export async function eachRow(
  window: Window,
  table: { readonly at: number; readonly end: number; readonly rows: number; readonly rowBytes: number },
  visit: (view: Buffer, offset: number) => void,
): Promise<void> {
  const end = table.at + table.rows * table.rowBytes;
  if (end > table.end) throw new Unreadable('a table is longer than its box');
  if (table.rowBytes === 0) return;
  for (let at = table.at; at < end; ) {
    const view = await window.from(at, table.rowBytes);
    const held = Math.min(view.length, end - at);
    let offset = 0;
    for (; offset + table.rowBytes <= held; offset += table.rowBytes) visit(view, offset);
    at += offset;
  }
}

/** Version 1 of a box has its times in eight bytes each. */
export function isLongForm(content: Buffer): boolean {
  return content.readUInt8(0) === 1;
}

export function readLong(view: Buffer, at: number): number {
  return view.readUInt32BE(at) * 2 ** 32 + view.readUInt32BE(at + 4);
}

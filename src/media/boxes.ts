import { Unreadable, type Window } from './readable.ts';

/** A box of MP4, by where its content lies. */
export interface Box {
  /** Its four letters as a number. */
  readonly type: number;
  readonly at: number;
  readonly end: number;
}

export function boxType(letters: string): number {
  return Buffer.from(letters, 'latin1').readUInt32BE(0);
}

/** Every box inside another, in order. One that reaches beyond is a file cut short. */
export async function eachBox(
  window: Window,
  { at: start, end }: Box,
  visit: (box: Box) => Promise<void> | undefined,
): Promise<void> {
  await window.walk({ start, end, need: 8, want: 16 }, (view, offset, at) => {
    const box = readBox(view, offset, at, end);
    return visit(box)?.then(() => box.end - at) ?? box.end - at;
  });
}

function readBox(view: Buffer, offset: number, start: number, end: number): Box {
  const size = view.readUInt32BE(offset);
  const isLong = size === 1 && end - start >= 16;
  const bytes = isLong ? readLong(view, offset + 8) : size === 0 ? end - start : size;
  const headBytes = isLong ? 16 : 8;
  if (bytes < headBytes || start + bytes > end) throw new Unreadable(`the box at byte ${start} does not fit`);
  return { type: view.readUInt32BE(offset + 4), at: start + headBytes, end: start + bytes };
}

/** The first bytes of a box's content. */
export async function contentOf(window: Window, box: Box, bytes: number): Promise<Buffer> {
  if (box.at + bytes > box.end) throw new Unreadable(`the box at byte ${box.at} is too short`);
  return (await window.from(box.at, bytes)).subarray(0, bytes);
}

/** Rows of a table of fixed width, as many as are stated and as the box holds. */
export async function eachRow(
  window: Window,
  table: { readonly at: number; readonly end: number; readonly rows: number; readonly rowBytes: number },
  visit: (view: Buffer, offset: number) => void,
): Promise<void> {
  const { at: start, rows, rowBytes } = table;
  const end = start + rows * rowBytes;
  if (end > table.end) throw new Unreadable('a table is longer than its box');
  if (rowBytes === 0) return;
  await window.walk({ start, end, need: rowBytes }, (view, offset, at) => {
    const held = Math.min(view.length, offset + (end - at));
    let row = offset;
    for (; row + rowBytes <= held; row += rowBytes) visit(view, row);
    return row - offset;
  });
}

/** Version 1 of a box has its times in eight bytes each. */
export function isLongForm(content: Buffer): boolean {
  return content.readUInt8(0) === 1;
}

export function readLong(view: Buffer, at: number): number {
  return view.readUInt32BE(at) * 2 ** 32 + view.readUInt32BE(at + 4);
}

import { crc32, deflateSync } from 'node:zlib';
import type { Asking } from './media-studio.ts';

/** A value, or a file where there are bytes. */
export interface Part {
  readonly name: string;
  readonly value?: string;
  readonly bytes?: Buffer;
  readonly fileName?: string;
  readonly type?: string;
}

const BOUNDARY = 'a-boundary-of-the-tests';

/** A form written by hand, so that it can be wrong in any way. */
export function formOf(parts: readonly Part[], { boundary = BOUNDARY, after = Buffer.alloc(0) } = {}): Asking {
  const written = parts.flatMap(({ name, value = '', bytes, fileName = 'a.png', type = 'image/png' }) => {
    const file = bytes === undefined ? '' : `; filename="${fileName}"\r\ncontent-type: ${type}`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), bytes ?? Buffer.from(value), Buffer.from('\r\n')];
  });
  const raw = Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`), after]);
  return { raw, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

export function valuesOf(fields: Readonly<Record<string, string>>): Part[] {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}

/** A picture of any announced size and of exactly so many bytes, all of it in order but for its content. */
export function pngOf({
  width = 2,
  height = 2,
  bytes,
}: {
  width?: number;
  height?: number;
  bytes?: number;
} = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const content = Buffer.alloc(Math.min(height, 64) * (Math.min(width, 64) + 1));
  const parts = [Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), chunk('IDAT', deflateSync(content))];
  const end = chunk('IEND', Buffer.alloc(0));
  if (bytes === undefined) return Buffer.concat([...parts, end]);
  const used = Buffer.concat([...parts, end]).length;
  // A private chunk, which every reader passes over.
  return Buffer.concat([...parts, chunk('paDd', Buffer.alloc(bytes - used - 12)), end]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

export const GIF = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex');
export const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');

export function dataUrl(bytes: Buffer, type = 'image/png'): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}

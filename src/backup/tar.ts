// The POSIX "ustar" layout: a header block of 512 bytes per entry, its content padded to whole blocks, two empty
// blocks at the end. Only regular files occur.

export const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
/** Eleven octal digits. */
const ENTRY_BYTES_MAX = 8 ** 11 - 1;

export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
}

export function tarHeader({ name, bytes }: TarEntry, modifiedAtSeconds: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const [prefix, rest] = splitName(name);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  if (bytes > ENTRY_BYTES_MAX) throw new Error(`too large for an archive: ${name}`);
  header.write(rest, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(bytes, 11), 124);
  header.write(octal(modifiedAtSeconds, 11), 136);
  header.write('0', 156);
  header.write('ustar\x0000', 257, 'latin1');
  header.write(prefix, 345);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** Undefined for a block that is no header of a regular file. */
export function readTarHeader(block: Buffer): TarEntry | undefined {
  const text = (start: number, length: number) => {
    const field = block.subarray(start, start + length);
    const end = field.indexOf(0);
    return field.toString('utf8', 0, end < 0 ? length : end);
  };
  const bytes = text(124, 12);
  const isHeader = Number.parseInt(text(148, 8), 8) === checksumOf(block) && /^[0-7]{11}$/.test(bytes);
  if (!isHeader || block.toString('latin1', 156, 157) !== '0') return undefined;
  const prefix = text(345, PREFIX_BYTES);
  return {
    name: prefix === '' ? text(0, NAME_BYTES) : `${prefix}/${text(0, NAME_BYTES)}`,
    bytes: Number.parseInt(bytes, 8),
  };
}

export function paddingAfter(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** The sum of all bytes, with the field of the sum itself read as spaces. */
function checksumOf(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function splitName(name: string): readonly [prefix: string, rest: string] {
  if (Buffer.byteLength(name) <= NAME_BYTES) return ['', name];
  const at = name.lastIndexOf('/', PREFIX_BYTES);
  const [prefix, rest] = [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
  if (at <= 0 || Buffer.byteLength(rest) > NAME_BYTES) throw new Error(`too long a name for an archive: ${name}`);
  return [prefix, rest];
}

/** Numbers as EBML, the syntax of Matroska, writes them. */

/** How many bytes the number here has: the zeros that its first byte begins with, and one. Undefined if it has no end. */
export function numberBytes(view: Buffer, at: number): number | undefined {
  const bytes = Math.clz32(view[at] ?? 0) - 23;
  return bytes > 8 ? undefined : bytes;
}

/** The number that begins here, whose own length is taken out of it. */
export function readNumber(view: Buffer, at: number): number {
  const bytes = numberBytes(view, at) ?? 1;
  let value = (view[at] ?? 0) & (0xff >>> bytes);
  for (let offset = 1; offset < bytes; offset++) value = value * 256 + (view[at + offset] ?? 0);
  return value;
}

/** Integers may have leading zeros; without any byte it is 0. */
export function readUnsigned(content: Buffer): number {
  let value = 0;
  for (const byte of content.subarray(0, 8)) value = value * 256 + byte;
  return value;
}

export function readSigned(content: Buffer): number {
  const bytes = Math.min(content.length, 8);
  const value = readUnsigned(content);
  return (content[0] ?? 0) >= 0x80 ? value - 256 ** bytes : value;
}

export function readFloat(content: Buffer): number {
  if (content.length === 4) return content.readFloatBE(0);
  return content.length === 8 ? content.readDoubleBE(0) : 0;
}

/** What comes behind a NUL only fills the element up. */
export function textToNul(content: Buffer): string {
  const end = content.indexOf(0);
  return content.toString('latin1', 0, end === -1 ? undefined : end);
}

import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { imageOf, type Measured } from './measured.ts';

// Width and height from headers, without decoding, and that the file has its end.

const PNG_DATA = 0x49444154;
const PNG_END = 0x49454e44;
const PNG_LAST_CHUNK = Buffer.from('0000000049454e44ae426082', 'hex');

export async function measurePng(reader: BufferedReader): Promise<Measured> {
  const head = await reader.from(0, 33);
  if (head.toString('latin1', 12, 16) !== 'IHDR') throw new Unreadable('the image has no header');
  const image = imageOf(head.readUInt32BE(16), head.readUInt32BE(20));
  let hasData = false;
  let hasEnd = false;
  await reader.walk({ start: 8, end: reader.bytes, need: 12 }, (chunk, offset, at) => {
    const type = chunk.readUInt32BE(offset + 4);
    const bytes = 12 + chunk.readUInt32BE(offset);
    if (type === PNG_END && hasData) hasEnd = at + bytes <= reader.bytes;
    if (type === PNG_END) return 0;
    if (type !== PNG_DATA || hasData) return bytes;
    hasData = true;
    return endsWith(reader, PNG_LAST_CHUNK).then((ends) => {
      hasEnd = ends;
      return ends ? 0 : bytes;
    });
  });
  if (!hasEnd) throw new Unreadable('the image ends early');
  return image;
}

const JPEG_SCAN = 0xda;
const JPEG_END = Buffer.from('ffd9', 'hex');

export async function measureJpeg(reader: BufferedReader): Promise<Measured> {
  let image: Measured | undefined;
  let scanAt: number | undefined;
  await reader.walk({ start: 2, end: reader.bytes, need: 9 }, (segment, offset, at) => {
    const marker = segment.readUInt8(offset + 1);
    const bytes = segment.readUInt16BE(offset + 2);
    if (segment.readUInt8(offset) !== 0xff || bytes < 2) return 0;
    if (marker === JPEG_SCAN) {
      scanAt = at;
      return 0;
    }
    if (isFrame(marker) && bytes >= 7)
      image = imageOf(segment.readUInt16BE(offset + 7), segment.readUInt16BE(offset + 5));
    return marker === 0xff ? 1 : 2 + bytes;
  });
  if (image === undefined || scanAt === undefined) throw new Unreadable('the image has no header or no content');
  await findJpegEnd(reader, scanAt);
  return image;
}

/** Each way to code a picture has a marker of its own; three in their row mean something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** In the coded picture the end marker cannot stand for anything else. What others wrote behind it does not matter. */
async function findJpegEnd(reader: BufferedReader, from: number): Promise<void> {
  if (await endsWith(reader, JPEG_END)) return;
  for (let at = from; ; ) {
    const view = await reader.from(at, 2);
    if (view.includes(JPEG_END)) return;
    at += view.length - 1;
  }
}

/** `VP8 `, `VP8L`, `ANMF`. */
const WEBP_PICTURES = [0x56503820, 0x5650384c, 0x414e4d46];

export async function measureWebp(reader: BufferedReader): Promise<Measured> {
  const head = await reader.from(0, 30);
  if (head.readUInt32LE(4) + 8 > reader.bytes) throw new Unreadable('the image ends early');
  const kind = head.toString('latin1', 12, 16);
  if (kind === 'VP8 ' && head.readUIntBE(23, 3) === 0x9d012a) {
    return imageOf(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff);
  }
  if (kind === 'VP8L' && head.readUInt8(20) === 0x2f) {
    const sides = head.readUInt32LE(21);
    return imageOf((sides & 0x3fff) + 1, ((sides >>> 14) & 0x3fff) + 1);
  }
  if (kind !== 'VP8X') throw new Unreadable('the image has no header');
  const image = imageOf(head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1);
  await findWebpPicture(reader);
  return image;
}

/** The extended header may be followed by colours and notes before a picture, or the first of several. */
async function findWebpPicture(reader: BufferedReader): Promise<void> {
  let hasPicture = false;
  await reader.walk({ start: 12, end: reader.bytes, need: 8 }, (chunk, offset) => {
    hasPicture = WEBP_PICTURES.includes(chunk.readUInt32BE(offset));
    const bytes = chunk.readUInt32LE(offset + 4);
    return hasPicture ? 0 : 8 + bytes + (bytes % 2);
  });
  if (!hasPicture) throw new Unreadable('the image has no content');
}

async function endsWith(reader: BufferedReader, end: Buffer): Promise<boolean> {
  return (await reader.from(reader.bytes - end.length, end.length)).equals(end);
}

import { imageOf, type Measured } from './measured.ts';
import { Unreadable, type Window } from './readable.ts';

// Width and height from headers, without decoding, and that the file has its end.

const PNG_DATA = 0x49444154;
const PNG_END = 0x49454e44;
const PNG_LAST_CHUNK = Buffer.from('0000000049454e44ae426082', 'hex');

export async function measurePng(window: Window): Promise<Measured> {
  const head = await window.from(0, 33);
  if (head.toString('latin1', 12, 16) !== 'IHDR') throw new Unreadable('the image has no header');
  const image = imageOf(head.readUInt32BE(16), head.readUInt32BE(20));
  let hasData = false;
  for (let at = 8; ; ) {
    const chunk = window.held(at, 8) ?? (await window.from(at, 8));
    const type = chunk.readUInt32BE(4);
    at += 12 + chunk.readUInt32BE(0);
    if (type === PNG_END && hasData && at <= window.bytes) return image;
    if (type !== PNG_DATA || hasData) continue;
    hasData = true;
    if (await endsWith(window, PNG_LAST_CHUNK)) return image;
  }
}

const JPEG_SCAN = 0xda;
const JPEG_END = Buffer.from('ffd9', 'hex');

export async function measureJpeg(window: Window): Promise<Measured> {
  let image: Measured | undefined;
  for (let at = 2; ; ) {
    const segment = window.held(at, 4) ?? (await window.from(at, 4));
    if (segment.readUInt8(0) !== 0xff) throw new Unreadable(`no marker at byte ${at}`);
    const marker = segment.readUInt8(1);
    const bytes = segment.readUInt16BE(2);
    if (isFrame(marker)) image = readFrame(await window.from(at, 9));
    if (marker === JPEG_SCAN) {
      if (image === undefined) throw new Unreadable('the image has no header');
      await findJpegEnd(window, at);
      return image;
    }
    if (marker === 0xff) at += 1;
    else if (bytes >= 2 && marker !== JPEG_END[1]) at += 2 + bytes;
    else throw new Unreadable(`no segment at byte ${at}`);
  }
}

/** Each way to code a picture has a marker of its own; three in their row mean something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function readFrame(segment: Buffer): Measured {
  return imageOf(segment.readUInt16BE(7), segment.readUInt16BE(5));
}

/** In the coded picture the end marker cannot stand for anything else. What others wrote behind it does not matter. */
async function findJpegEnd(window: Window, from: number): Promise<void> {
  if (await endsWith(window, JPEG_END)) return;
  for (let at = from; ; ) {
    const view = await window.from(at, 2);
    if (view.includes(JPEG_END)) return;
    at += view.length - 1;
  }
}

export async function measureWebp(window: Window): Promise<Measured> {
  const head = await window.from(0, 30);
  if (head.readUInt32LE(4) + 8 > window.bytes) throw new Unreadable('the image ends early');
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
  await findWebpPicture(window);
  return image;
}

/** The extended header may be followed by colours and notes before a picture, or the first of several. */
async function findWebpPicture(window: Window): Promise<void> {
  for (let at = 12; ; ) {
    const chunk = window.held(at, 8) ?? (await window.from(at, 8));
    if (/^(?:VP8 |VP8L|ANMF)$/.test(chunk.toString('latin1', 0, 4))) return;
    const bytes = chunk.readUInt32LE(4);
    at += 8 + bytes + (bytes % 2);
  }
}

async function endsWith(window: Window, end: Buffer): Promise<boolean> {
  return (await window.from(window.bytes - end.length, end.length)).equals(end);
}

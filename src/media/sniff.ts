import { SNIFF_BYTES } from '../limits.ts';
import { numberBytes, readNumber, textToNul } from './ebml.ts';
import { adtsFrame, FRAME_HEAD_BYTES, id3Bytes, mpegFrame } from './frame-headers.ts';
import type { Measured } from './measured.ts';

export type MediaKind = 'image' | 'video' | 'audio';

export interface Sniffed {
  readonly kind: MediaKind;
  /** Canonical: one for each format, whatever the file was called. */
  readonly mimeType: string;
  /** Without the dot. Opus in Ogg is `ogg` like Vorbis: every consumer of the format takes that name. */
  readonly extension: string;
}

const PNG: Sniffed = { kind: 'image', mimeType: 'image/png', extension: 'png' };
const JPEG: Sniffed = { kind: 'image', mimeType: 'image/jpeg', extension: 'jpg' };
const WEBP: Sniffed = { kind: 'image', mimeType: 'image/webp', extension: 'webp' };
const WAV: Sniffed = { kind: 'audio', mimeType: 'audio/wav', extension: 'wav' };
const MP3: Sniffed = { kind: 'audio', mimeType: 'audio/mpeg', extension: 'mp3' };
const AAC: Sniffed = { kind: 'audio', mimeType: 'audio/aac', extension: 'aac' };
const FLAC: Sniffed = { kind: 'audio', mimeType: 'audio/flac', extension: 'flac' };
const OGG: Sniffed = { kind: 'audio', mimeType: 'audio/ogg', extension: 'ogg' };
const M4A: Sniffed = { kind: 'audio', mimeType: 'audio/mp4', extension: 'm4a' };
const MP4: Sniffed = { kind: 'video', mimeType: 'video/mp4', extension: 'mp4' };
const MOV: Sniffed = { kind: 'video', mimeType: 'video/quicktime', extension: 'mov' };
const WEBM: Sniffed = { kind: 'video', mimeType: 'video/webm', extension: 'webm' };
const WEBM_AUDIO: Sniffed = { kind: 'audio', mimeType: 'audio/webm', extension: 'webm' };
const MKV: Sniffed = { kind: 'video', mimeType: 'video/matroska', extension: 'mkv' };
const MKA: Sniffed = { kind: 'audio', mimeType: 'audio/matroska', extension: 'mka' };

/** Containers of either: what they are with pictures, and with sound alone. */
const VIDEO_AND_AUDIO_CONTAINERS: readonly (readonly [video: Sniffed, audio: Sniffed])[] = [
  [MP4, M4A],
  [WEBM, WEBM_AUDIO],
  [MKV, MKA],
];

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const EBML_SIGNATURE = Buffer.from('1a45dfa3', 'hex');
const DOCUMENT_TYPE = 0x4282;
const MOVIE_BRANDS = /^(?:isom|iso[2-9a-c]|mp4[12]|avc1|dash|M4V |M4VH|M4VP|f4v |MSNV|cmfc)$/;
const AUDIO_BRANDS = /^(?:M4A |M4B |M4P |F4A )$/;
/** Stills and their sequences are in the same boxes, and often name a movie's brand beside their own. */
const OTHER_BRANDS = /^(?:avi[fs]|mi[fa][12f]|msf1|hei[cxms]|hev[cxms]|3g.*|crx |j[px].*)$/;

/**
 * What begins with these bytes: SNIFF_BYTES of a file suffice, or all of a shorter one. Judges by leading bytes only,
 * so what follows may still be broken; measure() tells. Undefined for all else: GIF, SVG, BMP, TIFF, AVIF, HEIC, samples
 * without a header. Wider than any one route takes: a route lists the types it takes.
 */
export function sniff(head: Buffer): Sniffed | undefined {
  if (head[0] === 0xff) return head[1] === 0xd8 && head[2] === 0xff ? JPEG : frames(head, 0);
  if (startsWith(head, PNG_SIGNATURE)) return PNG;
  const name = latin1(head, 0, 4);
  if (name === 'fLaC') return FLAC;
  if (name === 'OggS') return ogg(head);
  if (name.startsWith('ID3')) return tagged(head);
  if (startsWith(head, EBML_SIGNATURE)) return matroska(head);
  if (name === 'RIFF' || name === 'RF64' || name === 'BW64') return riff(head, name);
  return latin1(head, 4, 8) === 'ftyp' ? movie(head) : undefined;
}

/** What to call a file whose head could not tell: an MP4 without pictures is audio/mp4, an M4A with some video/mp4. */
export function asMeasured(sniffed: Sniffed, { hasVideo }: Measured): Sniffed {
  const containers = VIDEO_AND_AUDIO_CONTAINERS.find((pair) =>
    pair.some(({ mimeType }) => mimeType === sniffed.mimeType),
  );
  return containers?.[hasVideo === true ? 0 : 1] ?? sniffed;
}

function riff(head: Buffer, name: string): Sniffed | undefined {
  const form = latin1(head, 8, 12);
  if (form === 'WAVE') return WAV;
  return name === 'RIFF' && form === 'WEBP' && latin1(head, 12, 15) === 'VP8' ? WEBP : undefined;
}

/** A tag may stand before any of three formats. One that reaches beyond the head is taken for the usual one's. */
function tagged(head: Buffer): Sniffed | undefined {
  let at = 0;
  for (let bytes = id3Bytes(head, 0); bytes > 0; bytes = id3Bytes(head, at)) at += bytes;
  if (at === 0) return undefined;
  while (head[at] === 0) at++;
  if (at + 4 > head.length) return MP3;
  return latin1(head, at, at + 4) === 'fLaC' ? FLAC : frames(head, at);
}

/** Eleven or twelve bits are a weak sign: where the next frame should be, there must be one, unless the head is short. */
function frames(head: Buffer, at: number): Sniffed | undefined {
  for (const [parse, sniffed] of [
    [mpegFrame, MP3],
    [adtsFrame, AAC],
  ] as const) {
    const frame = parse(head, at);
    if (frame === undefined) continue;
    const next = at + frame.bytes;
    const isUnseen = next + FRAME_HEAD_BYTES > head.length && (at > 0 || head.length < SNIFF_BYTES);
    if (isUnseen || parse(head, next)?.sampleRate === frame.sampleRate) return sniffed;
  }
  return undefined;
}

function ogg(head: Buffer): Sniffed | undefined {
  const packet = 27 + (head[26] ?? 0);
  const isFirst = head[4] === 0 && ((head[5] ?? 0) & 2) !== 0;
  const isKnown =
    latin1(head, packet, packet + 8) === 'OpusHead' || latin1(head, packet, packet + 7) === '\u0001vorbis';
  return isFirst && isKnown ? OGG : undefined;
}

/** The document type is one element of the file's head, whose lengths may be written in more bytes than they need. */
function matroska(head: Buffer): Sniffed | undefined {
  let at = EBML_SIGNATURE.length + (numberBytes(head, EBML_SIGNATURE.length) ?? head.length);
  while (at < head.length) {
    const idBytes = numberBytes(head, at);
    const lengthBytes = idBytes && numberBytes(head, at + idBytes);
    if (idBytes === undefined || lengthBytes === undefined) return undefined;
    const content = at + idBytes + lengthBytes;
    if (content > head.length) return undefined;
    const end = content + readNumber(head, at + idBytes);
    if (idBytes === 2 && head.readUInt16BE(at) === DOCUMENT_TYPE) {
      const type = textToNul(head.subarray(content, end));
      return type === 'webm' ? WEBM : type === 'matroska' ? MKV : undefined;
    }
    at = end;
  }
  return undefined;
}

function movie(head: Buffer): Sniffed | undefined {
  const major = latin1(head, 8, 12);
  if (major === 'qt  ') return MOV;
  if (AUDIO_BRANDS.test(major)) return M4A;
  if (OTHER_BRANDS.test(major)) return undefined;
  const end = Math.min(head.readUInt32BE(0), head.length, 256);
  for (let at = 8; at + 4 <= end; at += at === 8 ? 8 : 4) {
    if (MOVIE_BRANDS.test(latin1(head, at, at + 4))) return MP4;
  }
  return undefined;
}

function startsWith(head: Buffer, signature: Buffer): boolean {
  return head.length >= signature.length && signature.compare(head, 0, signature.length) === 0;
}

function latin1(head: Buffer, start: number, end: number): string {
  return head.toString('latin1', Math.min(start, head.length), Math.min(end, head.length));
}

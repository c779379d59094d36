/**
 * Tells from bytes alone what a piece of media is, and how large or long: sniff() from its head, measure() from its
 * headers and indexes. Knows PNG, JPEG, WebP; MP4, MOV, WebM, Matroska; MP3, WAV, AAC, FLAC, Ogg. It believes no
 * length that a file merely states, since seconds are money: frames, samples and time stamps are counted.
 */
export { measure } from './measure.ts';
export type { Measured } from './measured.ts';
export { type Readable, readableOf, Unreadable } from './readable.ts';
export { asMeasured, type MediaKind, type Sniffed, sniff } from './sniff.ts';

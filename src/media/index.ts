/**
 * Tells from bytes alone what a piece of media is, and how large or long: sniff() from its head, measure() from its
 * headers, indexes and packets. Knows PNG, JPEG, WebP; MP4, MOV, WebM, Matroska; MP3, WAV, AAC, FLAC, Ogg. It believes
 * no length that a file states, since seconds are money: a file is as long as a decoder plays its packets. Large files
 * are measured in a thread of their own.
 */

export { type ByteSource, byteSourceOf, Implausible, Unreadable } from './buffered-reader.ts';
export type { Measured } from './measured.ts';
export { measure } from './measuring.ts';
export { isOfTier, isSameShape } from './picture-shape.ts';
export { asMeasured, type MediaKind, type Sniffed, sniff } from './sniff.ts';

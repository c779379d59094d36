import { measureAdts } from './adts.ts';
import { measureFlac } from './flac.ts';
import { measureJpeg, measurePng, measureWebp } from './images.ts';
import { measureMatroska } from './matroska.ts';
import type { Measured } from './measured.ts';
import { measureMp3 } from './mp3.ts';
import { measureMp4 } from './mp4.ts';
import { measureOgg } from './ogg.ts';
import { type MeasureOptions, type Readable, Unreadable, Window } from './readable.ts';
import type { Sniffed } from './sniff.ts';
import { measureWav } from './wav.ts';

const MEASURES: ReadonlyMap<string, (window: Window) => Promise<Measured>> = new Map([
  ['image/png', measurePng],
  ['image/jpeg', measureJpeg],
  ['image/webp', measureWebp],
  ['video/mp4', measureMp4],
  ['audio/mp4', measureMp4],
  ['video/quicktime', measureMp4],
  ['video/webm', measureMatroska],
  ['audio/webm', measureMatroska],
  ['video/matroska', measureMatroska],
  ['audio/matroska', measureMatroska],
  ['audio/mpeg', measureMp3],
  ['audio/aac', measureAdts],
  ['audio/wav', measureWav],
  ['audio/flac', measureFlac],
  ['audio/ogg', measureOgg],
]);

/**
 * How large or long it is. Images are read at both ends; the rest in pieces of at most MEDIA_READ_BYTES_MAX, each byte
 * about once where there is no index. Throws Unreadable when it is broken, truncated, empty, or beyond a bound.
 *
 * The head of MP4, WebM and Matroska does not tell whether they hold pictures or sound alone. asMeasured() gives what
 * to call the file once `hasVideo` is known.
 */
export async function measure(media: Readable, sniffed: Sniffed, options: MeasureOptions = {}): Promise<Measured> {
  const measureIt = MEASURES.get(sniffed.mimeType);
  if (measureIt === undefined) throw new Unreadable(`${sniffed.mimeType} is not measured`);
  return measureIt(new Window(media, options));
}

import { measureAdts } from './adts.ts';
import { BufferedReader, type ByteSource, type MeasureOptions, Unreadable } from './buffered-reader.ts';
import { measureFlac } from './flac.ts';
import { measureJpeg, measurePng, measureWebp } from './images.ts';
import { measureMatroska } from './matroska.ts';
import { checkPlausible, type Measured } from './measured.ts';
import { measureMp3 } from './mp3.ts';
import { measureMp4 } from './mp4.ts';
import { measureOgg } from './ogg.ts';
import { measureWav } from './wav.ts';

const MEASURES: ReadonlyMap<string, (reader: BufferedReader) => Promise<Measured>> = new Map([
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

/** As measure() says, in this thread. */
export async function measureHere(media: ByteSource, mimeType: string, options: MeasureOptions): Promise<Measured> {
  const measureIt = MEASURES.get(mimeType);
  if (measureIt === undefined) throw new Unreadable(`${mimeType} is not measured`);
  return checkPlausible(await measureIt(new BufferedReader(media, options)), media.bytes, mimeType);
}

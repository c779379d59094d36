import type { BufferedReader } from './buffered-reader.ts';
import { adtsFrame } from './frame-headers.ts';
import { countFrames, withoutTags } from './frames.ts';
import { type Measured, soundOf } from './measured.ts';

/** Nothing states the length, nor what the encoder put before the sound: every frame counts. */
export async function measureAdts(reader: BufferedReader): Promise<Measured> {
  const { start, end } = await withoutTags(reader);
  const { seconds, allSeconds } = await countFrames(reader, start, end, adtsFrame);
  return soundOf(seconds, allSeconds);
}

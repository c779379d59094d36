import { adtsFrame } from './frame-headers.ts';
import { countFrames, withoutTags } from './frames.ts';
import { type Measured, soundOf } from './measured.ts';
import type { Window } from './readable.ts';

/** Nothing states the length, nor what the encoder put before the sound: every frame counts. */
export async function measureAdts(window: Window): Promise<Measured> {
  const { start, end } = await withoutTags(window);
  const { seconds, allSeconds } = await countFrames(window, start, end, adtsFrame);
  return soundOf(seconds, allSeconds);
}

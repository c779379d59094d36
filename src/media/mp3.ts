import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { isMono, mpegFrame } from './frame-headers.ts';
import { countFrames, withoutTags } from './frames.ts';
import { type Measured, soundOf } from './measured.ts';

/**
 * Frames are counted, whatever a Xing, Info or VBRI header states, and what an encoder put before and behind the sound
 * to fill its frames is taken off where it says how much that was.
 */
export async function measureMp3(reader: BufferedReader): Promise<Measured> {
  const { start, end } = await withoutTags(reader);
  const { at, stated } = await firstFrame(reader, start, end);
  const counted = await countFrames(reader, at, end, mpegFrame);
  // Some count the frame that states the number, some do not.
  if (counted.frames + 1 < stated.frames && !reader.isCut) throw new Unreadable('frames are missing at the end');
  const isWhole = counted.frames <= stated.frames && !reader.isCut;
  return soundOf(counted.seconds - (isWhole ? stated.paddingSeconds : 0), counted.allSeconds);
}

interface Stated {
  readonly frames: number;
  readonly paddingSeconds: number;
}

const NOTHING: Stated = { frames: 0, paddingSeconds: 0 };

/** Where the sound begins: behind the first frame if that holds a header in place of sound. */
async function firstFrame(reader: BufferedReader, start: number, end: number): Promise<{ at: number; stated: Stated }> {
  if (start + 4 > end) return { at: start, stated: NOTHING };
  const frame = mpegFrame(await reader.from(start, 4), 0);
  if (frame === undefined || start + frame.bytes > end) return { at: start, stated: NOTHING };
  const view = (await reader.from(start, frame.bytes)).subarray(0, frame.bytes);
  if (view.toString('latin1', 36, 40) === 'VBRI') {
    return { at: start + frame.bytes, stated: { ...NOTHING, frames: view.length >= 54 ? view.readUInt32BE(50) : 0 } };
  }
  const isFirstVersion = frame.samples === 1152;
  const tag = 4 + (isFirstVersion ? (isMono(view, 0) ? 17 : 32) : isMono(view, 0) ? 9 : 17);
  const name = view.toString('latin1', tag, tag + 4);
  if (name !== 'Xing' && name !== 'Info') return { at: start, stated: NOTHING };
  return { at: start + frame.bytes, stated: readXing(view.subarray(tag), frame.sampleRate) };
}

const HAS_FRAMES = 1;
/** Which fields stand before the encoder's own, and their lengths. */
const FIELDS = [
  [HAS_FRAMES, 4],
  [2, 4],
  [4, 100],
  [8, 4],
] as const;

function readXing(tag: Buffer, sampleRate: number): Stated {
  if (tag.length < 12) return NOTHING;
  const flags = tag.readUInt32BE(4);
  const frames = (flags & HAS_FRAMES) !== 0 ? tag.readUInt32BE(8) : 0;
  let at = 8;
  for (const [flag, bytes] of FIELDS) if ((flags & flag) !== 0) at += bytes;
  const isKnown = /^(?:LAME|Lav[cf]|L3\.99)/.test(tag.toString('latin1', at, at + 5));
  if (!isKnown || at + 24 > tag.length) return { frames, paddingSeconds: 0 };
  const delays = tag.readUIntBE(at + 21, 3);
  return { frames, paddingSeconds: ((delays >>> 12) + (delays & 0xfff)) / sampleRate };
}

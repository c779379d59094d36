import { MEDIA_JUNK_BYTES_MAX, MEDIA_SECONDS_MAX } from '../limits.ts';
import { FRAME_HEAD_BYTES, type Frame, type FrameParser, id3Bytes } from './frame.ts';
import { Unreadable, type Window } from './readable.ts';

/** Where sound without a container begins and ends, the tags around it left out. */
export async function withoutTags(window: Window): Promise<{ start: number; end: number }> {
  const end = await endBeforeTags(window);
  return { start: await afterTags(window, 0, end), end };
}

/** ID3v1 is the last 128 bytes; APE ends with a footer of 32 bytes that tells its length. */
async function endBeforeTags(window: Window): Promise<number> {
  let end = window.bytes;
  if (end >= 128 && (await window.from(end - 128, 3)).toString('latin1', 0, 3) === 'TAG') end -= 128;
  if (end < 32) return end;
  const footer = await window.from(end - 32, 32);
  if (footer.toString('latin1', 0, 8) !== 'APETAGEX') return end;
  const hasHeader = footer.readUInt32LE(20) >>> 31 === 1;
  const bytes = footer.readUInt32LE(12) + (hasHeader ? 32 : 0);
  return bytes >= 32 && bytes <= end ? end - bytes : end;
}

/** The longest that a frame of any parser can be. */
const FRAME_BYTES_MAX = 8191;

export interface Counted {
  readonly frames: number;
  readonly seconds: number;
}

/**
 * Counts the frames from `start` to `end`. Between frames it passes over tags and up to MEDIA_JUNK_BYTES_MAX of anything
 * else, as players do; a last frame that is cut off is not counted.
 */
export async function countFrames(window: Window, start: number, end: number, parse: FrameParser): Promise<Counted> {
  const samples = new Map<number, number>();
  let frames = 0;
  let seconds = 0;
  let at = await nextFrame(window, start, end, parse);
  while (at !== undefined) {
    const run = await runOfFrames(window, at, end, parse, (frame) => {
      frames++;
      seconds += frame.samples / frame.sampleRate;
      samples.set(frame.sampleRate, (samples.get(frame.sampleRate) ?? 0) + frame.samples);
      return seconds <= MEDIA_SECONDS_MAX;
    });
    at = run.isDone ? undefined : await nextFrame(window, run.at, end, parse);
  }
  // Adding millions of fractions would drift; one division for each rate does not.
  let exact = 0;
  for (const [rate, count] of samples) exact += count / rate;
  return { frames, seconds: exact };
}

/** Frames that follow each other without a gap. */
async function runOfFrames(
  window: Window,
  from: number,
  end: number,
  parse: FrameParser,
  count: (frame: Frame) => boolean,
): Promise<{ at: number; isDone: boolean }> {
  let at = from;
  while (at + FRAME_HEAD_BYTES <= end) {
    const view = await window.from(at, FRAME_HEAD_BYTES);
    let offset = 0;
    while (offset + FRAME_HEAD_BYTES <= view.length) {
      const frame = parse(view, offset);
      if (frame === undefined) return { at: at + offset, isDone: false };
      if (at + offset + frame.bytes > end || !count(frame)) return { at: end, isDone: true };
      offset += frame.bytes;
    }
    at += offset;
  }
  return { at, isDone: true };
}

/** Two frames in a row, or one that ends the file. Undefined if nothing but junk is left. */
async function nextFrame(window: Window, from: number, end: number, parse: FrameParser): Promise<number | undefined> {
  const start = await afterTags(window, from, end);
  const searched = Math.min(MEDIA_JUNK_BYTES_MAX, end - start);
  if (searched <= 0) return undefined;
  const view = await window.from(start, Math.min(searched + FRAME_BYTES_MAX + FRAME_HEAD_BYTES, end - start));
  let offset = view.indexOf(0xff);
  while (offset >= 0 && offset < searched) {
    const frame = parse(view, offset);
    if (frame !== undefined) {
      const next = offset + frame.bytes;
      if (start + next === end || parse(view, next)?.sampleRate === frame.sampleRate) return start + offset;
    }
    offset = view.indexOf(0xff, offset + 1);
  }
  if (start + searched < end) throw new Unreadable(`no frame of sound after byte ${start}`);
  return undefined;
}

async function afterTags(window: Window, from: number, end: number): Promise<number> {
  let at = from;
  while (at + 10 <= end) {
    const bytes = id3Bytes(await window.from(at, 10), 0);
    if (bytes === 0) break;
    at += bytes;
  }
  return at;
}

import { MEDIA_GAPS_MAX, MEDIA_JUNK_BYTES_MAX } from '../limits.ts';
import { FRAME_HEAD_BYTES, type Frame, type FrameParser, tagBytes } from './frame-headers.ts';
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
 * Counts the frames from `start` to `end`. Up to MEDIA_GAPS_MAX times it passes over tags and up to MEDIA_JUNK_BYTES_MAX
 * of anything else, as players do; a last frame that is cut off is not counted.
 */
export async function countFrames(window: Window, start: number, end: number, parse: FrameParser): Promise<Counted> {
  const tally = new Tally();
  let at = await nextFrame(window, start, end, parse);
  for (let gaps = 0; at !== undefined; gaps++) {
    if (gaps > MEDIA_GAPS_MAX) throw new Unreadable('too much is between its frames');
    at = await nextFrame(window, await runOfFrames(window, { start: at, end }, parse, tally), end, parse);
  }
  return { frames: tally.frames, seconds: tally.seconds() };
}

/** Adding millions of fractions would drift: samples are added, and divided once for each rate. */
class Tally {
  frames = 0;
  readonly #samples = new Map<number, number>();
  #rate = 0;
  #ofRate = 0;

  add({ samples, sampleRate }: Frame): void {
    if (sampleRate !== this.#rate) this.#change(sampleRate);
    this.frames++;
    this.#ofRate += samples;
  }

  seconds(): number {
    this.#change(0);
    let seconds = 0;
    for (const [rate, samples] of this.#samples) seconds += samples / rate;
    return seconds;
  }

  /** The rate of most files never changes, so the running one is at hand. */
  #change(rate: number): void {
    if (this.#rate !== 0) this.#samples.set(this.#rate, this.#ofRate);
    this.#rate = rate;
    this.#ofRate = this.#samples.get(rate) ?? 0;
  }
}

/** Frames that follow each other. Returns where they do not any more. */
function runOfFrames(
  window: Window,
  { start, end }: { start: number; end: number },
  parse: FrameParser,
  tally: Tally,
): Promise<number> {
  return window.walk({ start, end, need: FRAME_HEAD_BYTES }, (view, offset, at) => {
    let next = offset;
    while (next + FRAME_HEAD_BYTES <= view.length) {
      const frame = parse(view, next);
      if (frame === undefined || at + (next - offset) + frame.bytes > end) break;
      tally.add(frame);
      next += frame.bytes;
    }
    return next - offset;
  });
}

/** Two frames in a row, or one that ends the file. Undefined if nothing but junk is left. */
async function nextFrame(window: Window, from: number, end: number, parse: FrameParser): Promise<number | undefined> {
  const start = await afterTags(window, from, end);
  const searched = Math.min(MEDIA_JUNK_BYTES_MAX + 1, end - start);
  if (searched <= 0) return undefined;
  const least = Math.min(searched + FRAME_BYTES_MAX + FRAME_HEAD_BYTES, end - start);
  const view = (await window.from(start, least)).subarray(0, least);
  for (let offset = 0; offset < searched; offset++) {
    if (view[offset] !== 0xff) continue;
    const frame = parse(view, offset);
    if (frame === undefined) continue;
    const next = offset + frame.bytes;
    if (start + next === end || parse(view, next)?.sampleRate === frame.sampleRate) return start + offset;
  }
  if (start + searched < end) throw new Unreadable(`no frame of sound after byte ${start}`);
  return undefined;
}

function afterTags(window: Window, start: number, end: number): Promise<number> {
  return window.walk({ start, end, need: 10, want: 32 }, tagBytes);
}

import { MEDIA_GAPS_MAX, MEDIA_JUNK_BYTES_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { FRAME_HEAD_BYTES, type FrameParser, id3Bytes, tagBytes } from './frame-headers.ts';
import { Tally } from './tally.ts';

/** Where sound without a container begins and ends, the tags around it left out. */
export async function withoutTags(reader: BufferedReader): Promise<{ start: number; end: number }> {
  const end = await endBeforeTags(reader);
  // Every decoder passes over such a tag in front by its stated length; others it looks through for frames.
  return { start: await reader.walk({ start: 0, end, need: 10 }, id3Bytes), end };
}

/** ID3v1 is the last 128 bytes; APE ends with a footer of 32 bytes that tells its length. */
async function endBeforeTags(reader: BufferedReader): Promise<number> {
  let end = reader.bytes;
  if (end >= 128 && (await reader.from(end - 128, 3)).toString('latin1', 0, 3) === 'TAG') end -= 128;
  if (end < 32) return end;
  const footer = await reader.from(end - 32, 32);
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
  /** With those that stand in tags and between other things, which decoders find as well. */
  readonly allSeconds: number;
}

/**
 * Counts the frames from `start` to `end`. Up to MEDIA_GAPS_MAX times it passes over tags and up to MEDIA_JUNK_BYTES_MAX
 * of anything else, as players do; a last frame that is cut off is not counted.
 */
export async function countFrames(
  reader: BufferedReader,
  start: number,
  end: number,
  parse: FrameParser,
): Promise<Counted> {
  const tally = new Tally();
  const stray = new StrayFrames(parse);
  let at = await nextFrame(reader, start, end, stray);
  for (let gaps = 0; at !== undefined; gaps++) {
    if (gaps > MEDIA_GAPS_MAX) throw new Unreadable('too much is between its frames');
    at = await nextFrame(reader, await runOfFrames(reader, { start: at, end }, parse, tally), end, stray);
  }
  await stray.search(reader, end, reader.bytes);
  const seconds = tally.seconds();
  return { frames: tally.frames, seconds, allSeconds: seconds + stray.tally.seconds() };
}

/** How long all the frames play that can be found from `start` to `end`, whatever is between them. */
export async function searchFrames(
  reader: BufferedReader,
  start: number,
  end: number,
  parse: FrameParser,
): Promise<number> {
  const stray = new StrayFrames(parse);
  await stray.search(reader, start, end);
  return stray.tally.seconds();
}

/** Frames that follow each other. Returns where they do not any more. */
function runOfFrames(
  reader: BufferedReader,
  { start, end }: { start: number; end: number },
  parse: FrameParser,
  tally: Tally,
): Promise<number> {
  return reader.walk({ start, end, need: FRAME_HEAD_BYTES }, (view, offset, at) => {
    let next = offset;
    while (next + FRAME_HEAD_BYTES <= view.length) {
      const frame = parse(view, next);
      if (frame === undefined || at + (next - offset) + frame.bytes > end) break;
      tally.add(frame.samples, frame.sampleRate);
      next += frame.bytes;
    }
    return next - offset;
  });
}

/** Two frames in a row, or one that ends the file. Undefined if nothing but junk is left. */
async function nextFrame(
  reader: BufferedReader,
  from: number,
  end: number,
  stray: StrayFrames,
): Promise<number | undefined> {
  const start = await afterTags(reader, from, end, stray);
  const searched = Math.min(MEDIA_JUNK_BYTES_MAX + 1, end - start);
  if (searched <= 0) return undefined;
  const least = Math.min(searched + FRAME_BYTES_MAX + FRAME_HEAD_BYTES, end - start);
  const view = (await reader.from(start, least)).subarray(0, least);
  for (let offset = 0; offset < searched; offset++) {
    if (view[offset] !== 0xff || !stray.isRun(view, offset, end - start)) continue;
    stray.look(view, 0, offset, start);
    return start + offset;
  }
  if (start + searched < end) throw new Unreadable(`no frame of sound after byte ${start}`);
  stray.look(view, 0, searched, start);
  return undefined;
}

/** Looks through each tag from `start` on, and returns where none begins any more. */
function afterTags(reader: BufferedReader, start: number, end: number, stray: StrayFrames): Promise<number> {
  let tagEnd = start;
  return reader.walk({ start, end, need: 10, want: 32 }, (view, offset, at) => {
    if (at >= tagEnd) {
      const bytes = tagBytes(view, offset);
      if (bytes === 0) return 0;
      tagEnd = at + bytes;
    }
    const rest = Math.min(tagEnd, end) - at;
    const available = view.length - offset;
    const scanned = rest <= available ? rest : available - FRAME_HEAD_BYTES;
    stray.look(view, offset, scanned, at);
    return tagEnd >= end && at + scanned >= end ? tagEnd - at : scanned;
  });
}

/** Frames outside the runs that a file is made of. A decoder that has lost its place goes on with the next it finds. */
class StrayFrames {
  readonly tally = new Tally();
  readonly #parse: FrameParser;
  /** That of the file; 0 while it is unknown. */
  #sampleRate = 0;
  /** Where the last one ends. */
  #end = 0;

  constructor(parse: FrameParser) {
    this.#parse = parse;
  }

  /** Whether two frames in a row begin here, or one that ends with all there is. */
  isRun(view: Buffer, offset: number, bytes: number): boolean {
    const frame = this.#parse(view, offset);
    if (frame === undefined) return false;
    const next = offset + frame.bytes;
    if (next !== bytes && this.#parse(view, next)?.sampleRate !== frame.sampleRate) return false;
    this.#sampleRate = frame.sampleRate;
    return true;
  }

  /** Counts those that begin in so many bytes from `offset` of the view, which is at `at` of the file. */
  look(view: Buffer, offset: number, bytes: number, at: number): void {
    for (let index = Math.max(0, this.#end - at); index < bytes; index++) {
      if (view[offset + index] !== 0xff) continue;
      if (this.#sampleRate === 0 && !this.isRun(view, offset + index, Number.NaN)) continue;
      const frame = this.#parse(view, offset + index);
      if (frame === undefined || frame.sampleRate !== this.#sampleRate) continue;
      this.tally.add(frame.samples, frame.sampleRate);
      this.#end = at + index + frame.bytes;
      index += frame.bytes - 1;
    }
  }

  async search(reader: BufferedReader, start: number, end: number): Promise<void> {
    await reader.walk({ start, end, need: FRAME_HEAD_BYTES, want: 32 }, (view, offset, at) => {
      const available = view.length - offset;
      const scanned = at + available >= end ? end - at : available - FRAME_HEAD_BYTES;
      this.look(view, offset, scanned, at);
      return scanned;
    });
  }
}

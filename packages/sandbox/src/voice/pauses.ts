/** Samples per second of everything here; the recogniser takes no other. */
export const HEARING_RATE = 16_000;
const FRAMES_PER_SECOND = 50;
const FRAME = HEARING_RATE / FRAMES_PER_SECOND;
/** The recogniser is good at short stretches and loses the thread in long ones. */
const STRETCH_FRAMES_MAX = 15 * FRAMES_PER_SECOND;
const STRETCH_FRAMES_ENOUGH = 4 * FRAMES_PER_SECOND;
const PAUSE_FRAMES = 0.4 * FRAMES_PER_SECOND;
const GAP_FRAMES = 0.1 * FRAMES_PER_SECOND;
/** Kept around what is heard, since words begin and end softly. */
const MARGIN_FRAMES = 0.2 * FRAMES_PER_SECOND;
/** What is less loud is silence; a frame is quiet below a part of the loudest one around, within bounds. */
const SILENCE = 0.002;
const QUIET_PART = 0.06;
const QUIET_MAX = 0.01;

/** Something that may be speech, and when it begins. */
export interface Stretch {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly startSeconds: number;
}

interface Frame {
  readonly samples: Float32Array;
  readonly loudness: number;
}

/** Cuts sound that comes bit by bit where the speaker pauses, and leaves out what is silent. */
export class Pauses {
  #frames: Frame[] = [];
  #loudest = 0;
  #framesBefore = 0;
  /** Less than a frame. */
  #rest = new Float32Array(0);

  *push(samples: Float32Array): Generator<Stretch> {
    const all = new Float32Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    const whole = all.length - (all.length % FRAME);
    for (let at = 0; at < whole; at += FRAME) {
      this.#hold(all.subarray(at, at + FRAME));
      const cut = this.#cutAt();
      if (cut > 0) yield* this.#cut(cut);
    }
    this.#rest = all.slice(whole);
  }

  *end(): Generator<Stretch> {
    const last = new Float32Array(FRAME);
    last.set(this.#rest);
    this.#hold(last);
    yield* this.#cut(this.#frames.length);
  }

  #hold(samples: Float32Array): void {
    const loudness = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / FRAME);
    this.#frames.push({ samples, loudness });
    this.#loudest = Math.max(this.#loudest, loudness);
  }

  /** Behind how many frames to cut; 0 for not yet. */
  #cutAt(): number {
    const count = this.#frames.length;
    const isEnough = count >= STRETCH_FRAMES_ENOUGH;
    if (isEnough && this.#loudest < SILENCE) return count - MARGIN_FRAMES;
    const isPause = isEnough && this.#frames.slice(-PAUSE_FRAMES).every((frame) => this.#isQuiet(frame));
    if (isPause) return count - PAUSE_FRAMES / 2;
    return count < STRETCH_FRAMES_MAX ? 0 : this.#quietestGap();
  }

  /** There was no pause: where a cut is least likely to be within a word. */
  #quietestGap(): number {
    let best = { at: STRETCH_FRAMES_MAX, loudness: Number.POSITIVE_INFINITY };
    for (let at = STRETCH_FRAMES_MAX / 2; at + GAP_FRAMES <= STRETCH_FRAMES_MAX; at++) {
      const loudness = this.#frames.slice(at, at + GAP_FRAMES).reduce((sum, frame) => sum + frame.loudness, 0);
      if (loudness < best.loudness) best = { at: at + Math.floor(GAP_FRAMES / 2), loudness };
    }
    return best.at;
  }

  *#cut(count: number): Generator<Stretch> {
    const isHeard = (frame: Frame) => !this.#isQuiet(frame);
    const frames = this.#frames.splice(0, count);
    const first = Math.max(0, frames.findIndex(isHeard) - MARGIN_FRAMES);
    const end = Math.min(count, frames.findLastIndex(isHeard) + 1 + MARGIN_FRAMES);
    const startSeconds = (this.#framesBefore + first) / FRAMES_PER_SECOND;
    if (frames.some(isHeard)) yield { samples: joined(frames.slice(first, end)), startSeconds };
    this.#framesBefore += count;
    this.#loudest = this.#frames.reduce((most, { loudness }) => Math.max(most, loudness), 0);
  }

  #isQuiet({ loudness }: Frame): boolean {
    return loudness < Math.min(QUIET_MAX, Math.max(SILENCE, QUIET_PART * this.#loudest));
  }
}

function joined(frames: readonly Frame[]): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(frames.length * FRAME);
  for (const [index, frame] of frames.entries()) samples.set(frame.samples, index * FRAME);
  return samples;
}

import { READER_BYTES_PER_SECOND_MIN, READER_WINDOW_MS } from '../../limits.ts';

const WINDOW_BYTES_MIN = (READER_BYTES_PER_SECOND_MIN * READER_WINDOW_MS) / 1000;

/**
 * Whether a caller reads its answers fast enough, by windows of time. A window begins when something is left waiting for
 * the caller and ends early when nothing is: a stream with nothing to send is not slow.
 */
export class ReaderPace {
  #windowMs: number | undefined;
  #windowBytes = 0;

  /** To be asked now and then. `sent` is what the system has taken of the answers, `waiting` what it has not. */
  isTooSlow(nowMs: number, sent: number, waiting: number): boolean {
    if (waiting === 0) {
      this.#windowMs = undefined;
      return false;
    }
    if (this.#windowMs !== undefined && nowMs - this.#windowMs < READER_WINDOW_MS) return false;
    const isSlow = this.#windowMs !== undefined && sent - this.#windowBytes < WINDOW_BYTES_MIN;
    this.#windowMs = nowMs;
    this.#windowBytes = sent;
    return isSlow;
  }
}

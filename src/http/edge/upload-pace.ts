import { UPLOAD_BYTES_PER_SECOND_MIN, UPLOAD_GRACE_MS, UPLOAD_WINDOW_MS } from '../../limits.ts';

const WINDOW_BYTES_MIN = (UPLOAD_BYTES_PER_SECOND_MIN * UPLOAD_WINDOW_MS) / 1000;

/** Whether a body comes fast enough, by windows of time of which the first begins after a grace. */
export class UploadPace {
  #windowMs: number;
  #windowBytes: number;

  /** `bytes` is what had come on the connection when the body began. */
  constructor(nowMs: number, bytes: number) {
    this.#windowMs = nowMs + UPLOAD_GRACE_MS;
    this.#windowBytes = bytes;
  }

  /** To be asked now and then. `isHeldBack`: this side has not taken yet what came, so no more can come. */
  isTooSlow(nowMs: number, bytes: number, isHeldBack: boolean): boolean {
    if (nowMs - this.#windowMs < UPLOAD_WINDOW_MS) return false;
    const isSlow = bytes - this.#windowBytes < WINDOW_BYTES_MIN && !isHeldBack;
    this.#windowMs = nowMs;
    this.#windowBytes = bytes;
    return isSlow;
  }
}

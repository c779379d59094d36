import type { Clock } from './clock.ts';

const LOOK_EVERY_MS = 100;

interface Wait {
  readonly atMs: number;
  readonly end: () => void;
}

/** Waits that end by the one clock, so that they pass when it is moved. All of them share one timer. */
export class Waits {
  readonly #clock: Clock;
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when so much time has passed, or at once when the signal is aborted. */
  pass(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wait: Wait = {
        atMs: this.#clock.nowMs() + ms,
        end: () => {
          signal.removeEventListener('abort', wait.end);
          this.#waits.delete(wait);
          if (this.#waits.size === 0) this.#rest();
          resolve();
        },
      };
      signal.addEventListener('abort', wait.end);
      this.#waits.add(wait);
      this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    });
  }

  #look(): void {
    const nowMs = this.#clock.nowMs();
    for (const wait of this.#waits) if (wait.atMs <= nowMs) wait.end();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

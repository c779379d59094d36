/** Counts by whole minutes: the last full one, or this one if there was none before. */
export class MinuteCount {
  #minute = 0;
  #current = 0;
  #previous = 0;

  add(nowMs: number): void {
    this.#turn(nowMs);
    this.#current++;
  }

  lastMinute(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#previous, this.#current);
  }

  #turn(nowMs: number): void {
    const minute = Math.floor(nowMs / 60_000);
    if (minute === this.#minute) return;
    this.#previous = minute === this.#minute + 1 ? this.#current : 0;
    this.#current = 0;
    this.#minute = minute;
  }
}

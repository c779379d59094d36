/** Sound that is counted. Adding millions of fractions would drift: samples are added, and divided once for each rate. */
export class Tally {
  frames = 0;
  readonly #samples = new Map<number, number>();
  #rate = 0;
  #ofRate = 0;

  add(samples: number, sampleRate: number): void {
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

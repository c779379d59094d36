/** How many crossings of zero the kernel has on each side, and how finely it is known between two of them. */
const CROSSINGS = 16;
const STEPS = 2_048;

/** A windowed sinc, from its middle to its end. */
const KERNEL = Float32Array.from({ length: CROSSINGS * STEPS + 1 }, (_, index) => {
  const x = (Math.PI * index) / STEPS;
  return index === 0 ? 1 : (Math.sin(x) / x) * (0.5 + 0.5 * Math.cos(x / CROSSINGS));
});

/** Another sample rate for sound that comes bit by bit. What would be too high for the new rate is left out. */
export class Resampler {
  /** From one new sample to the next, in old ones. */
  readonly #step: number;
  /** How far apart the kernel's crossings are, in old samples, and how far it reaches. */
  readonly #width: number;
  readonly #reach: number;
  /** The old samples that are still needed, and the number of the first. Before and behind them all is silence. */
  #window: Float32Array<ArrayBuffer>;
  #first: number;
  #inputLength = 0;
  #outputLength = 0;

  constructor(from: number, to: number) {
    this.#step = from / to;
    this.#width = Math.max(1, this.#step);
    this.#reach = Math.ceil(this.#width * CROSSINGS);
    this.#window = new Float32Array(this.#reach);
    this.#first = -this.#reach;
  }

  push(samples: Float32Array): Float32Array<ArrayBuffer> {
    if (this.#step === 1) return Float32Array.from(samples);
    this.#inputLength += samples.length;
    this.#hold(samples);
    return this.#make(this.#inputLength - this.#reach);
  }

  /** The rest. */
  end(): Float32Array<ArrayBuffer> {
    this.#hold(new Float32Array(this.#reach));
    return this.#make(this.#inputLength);
  }

  #hold(samples: Float32Array): void {
    const unneeded = Math.max(0, Math.ceil(this.#outputLength * this.#step) - this.#reach - this.#first);
    const tail = this.#window.subarray(unneeded);
    this.#window = new Float32Array(tail.length + samples.length);
    this.#window.set(tail);
    this.#window.set(samples, tail.length);
    this.#first += unneeded;
  }

  /** Every new sample whose place is before an old one. */
  #make(end: number): Float32Array<ArrayBuffer> {
    const count = Math.max(0, Math.ceil(end / this.#step) - this.#outputLength);
    const output = new Float32Array(count);
    for (let index = 0; index < count; index++) output[index] = this.#at((this.#outputLength + index) * this.#step);
    this.#outputLength += count;
    return output;
  }

  #at(place: number): number {
    const middle = place - this.#first;
    const begin = Math.max(0, Math.ceil(middle - this.#reach));
    const end = Math.min(this.#window.length - 1, Math.floor(middle + this.#reach));
    const scale = STEPS / this.#width;
    let sum = 0;
    for (let at = begin; at <= end; at++) {
      sum += (this.#window[at] ?? 0) * (KERNEL[Math.round(Math.abs(at - middle) * scale)] ?? 0);
    }
    return sum / this.#width;
  }
}

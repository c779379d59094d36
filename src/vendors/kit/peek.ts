/** A stream whose first pieces have been read already. A reader that stops releases the source, even before the first. */
export class Peeked<Piece> implements AsyncIterableIterator<Piece> {
  readonly #source: AsyncIterator<Piece>;
  #head: Piece[];

  /** Hands out `head`, then the rest of `source`. */
  constructor(head: readonly Piece[], source: AsyncIterator<Piece>) {
    this.#head = [...head];
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Piece>> {
    const value = this.#head.shift();
    return value === undefined ? this.#source.next() : Promise.resolve({ value, done: false });
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.#head = [];
    await this.#source.return?.();
    return { value: undefined, done: true };
  }
}

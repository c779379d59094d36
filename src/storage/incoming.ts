import { ObjectTooLarge, type PutOptions } from './object-store.ts';

/** A body on its way in: counted, capped, and given up as soon as the signal says so, even while its source hangs. */
export class Incoming {
  bytes = 0;
  /** What the source threw, or why it was given up: no fault of the store. */
  failure: { readonly reason: unknown } | undefined;
  readonly #source: AsyncIterator<Buffer>;
  readonly #options: PutOptions;

  constructor(body: AsyncIterable<Buffer> | Buffer, options: PutOptions) {
    this.#source = Buffer.isBuffer(body) ? whole(body) : body[Symbol.asyncIterator]();
    this.#options = options;
  }

  async *chunks(): AsyncGenerator<Buffer, void, void> {
    const { bytesMax, signal } = this.#options;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const step = await this.#next(signal);
        if (step.done === true) return;
        this.bytes += step.value.length;
        if (this.bytes > bytesMax) throw new ObjectTooLarge(bytesMax);
        yield step.value;
      }
    } catch (reason) {
      this.failure = { reason };
      throw reason;
    } finally {
      // Not awaited: a source that hangs would not hear of it before its next chunk.
      this.#source.return?.()?.catch(() => undefined);
    }
  }

  #next(signal: AbortSignal | undefined): Promise<IteratorResult<Buffer, unknown>> {
    if (signal === undefined) return this.#source.next();
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(signal.reason);
      signal.addEventListener('abort', giveUp);
      const settle = <Value>(by: (value: Value) => void) => {
        return (value: Value) => {
          signal.removeEventListener('abort', giveUp);
          by(value);
        };
      };
      this.#source.next().then(settle(resolve), settle(reject));
    });
  }
}

async function* whole(body: Buffer): AsyncGenerator<Buffer, void, void> {
  yield body;
}

import { ApiError, type ErrorEnvelope, UpstreamError } from '../errors.ts';
import type { FrameWriter, Settled } from '../formats/index.ts';
import type { ChatChunk, ReadyStream, TokenUsage } from '../vendors/index.ts';
import type { StreamMeter } from './stream-meter.ts';

/** What every stream of an upstream consists of. */
interface Chunk {
  /** Undefined when the upstream only told its usage. */
  readonly body: unknown;
  readonly usage: TokenUsage | undefined;
}

/** A stream that has begun. */
export interface StartedStream<C extends Chunk> {
  readonly first: C;
  readonly rest: AsyncIterator<C>;
  readonly ready: () => C | undefined;
}

/** A stream that ends before it began has failed. */
export async function withFirst<C extends Chunk>(chunks: ReadyStream<C>): Promise<StartedStream<C>> {
  const rest = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { value: first, done } = await rest.next();
    if (done === true) throw new UpstreamError('garbled', 'the stream ended without a chunk');
    if (first.body !== undefined) return { first, rest, ready: () => chunks.ready?.() };
  }
}

/** How the chunks of one stream are counted, written, and what a fault in it is reported to. */
export interface StreamTerms<C> {
  readonly meter: StreamMeter;
  readonly writer: FrameWriter<C>;
  /** What a chunk adds to the answer, for counting where the upstream does not. */
  readonly addedBy: (chunk: C) => string;
  /** Called with a fault that comes after the first chunk. */
  readonly onFault: (error: UpstreamError) => void;
}

/** The answer of a call as it comes. */
export interface FrameStream extends AsyncIterableIterator<string, undefined> {
  /** What the caller is sent in place of the rest, once the stream has thrown. */
  failure(error: ErrorEnvelope): string;
}

/**
 * The frames of a stream. Each text is what goes out at once: the frames of all chunks that came together. Written out
 * and not as a generator, whose every step would cost as much as the frame.
 */
export class StreamFrames<C extends Chunk> implements FrameStream {
  readonly #started: StartedStream<C>;
  readonly #meter: StreamMeter;
  readonly #writer: FrameWriter<C>;
  readonly #addedBy: (chunk: C) => string;
  readonly #onFault: (error: UpstreamError) => void;
  #first: C | undefined;
  #settled: Settled | undefined;
  #hasEnded = false;

  constructor(started: StartedStream<C>, { meter, writer, addedBy, onFault }: StreamTerms<C>) {
    this.#started = started;
    this.#meter = meter;
    this.#writer = writer;
    this.#addedBy = addedBy;
    this.#onFault = onFault;
    this.#first = started.first;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    try {
      for (;;) {
        const { value, done } = await this.#take();
        if (done === true) return await this.#end();
        const text = this.#textOf(value);
        if (text !== '') return { value: text, done: false };
      }
    } catch (error) {
      if (error instanceof UpstreamError) this.#onFault(error);
      await this.return();
      throw error instanceof UpstreamError ? new ApiError('upstream_failed', { cause: error }) : error;
    }
  }

  /** Also when the consumer of the frames stops early: the upstream is let go, and what was delivered is charged. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#hasEnded = true;
    await this.#started.rest.return?.();
    this.#settled = await this.#meter.settle();
    return { value: undefined, done: true };
  }

  failure(error: ErrorEnvelope): string {
    return this.#writer.fail(error, this.#settled);
  }

  #take(): Promise<IteratorResult<C>> {
    const first = this.#first;
    this.#first = undefined;
    return first === undefined ? this.#started.rest.next() : Promise.resolve({ value: first, done: false });
  }

  #textOf(chunk: C): string {
    let text = '';
    for (let at: C | undefined = chunk; at !== undefined; at = this.#started.ready()) {
      this.#meter.count(at.usage === undefined ? this.#addedBy(at) : '', at.usage);
      text += this.#writer.write(at);
    }
    return text;
  }

  /** The format's own end tells what the call came to, so it is settled before. */
  async #end(): Promise<IteratorResult<string, undefined>> {
    if (this.#hasEnded) return this.return();
    this.#hasEnded = true;
    this.#settled = await this.#meter.settle();
    const value = await this.#writer.end(this.#settled);
    return value === '' ? this.return() : { value, done: false };
  }
}

/** What a chunk of chat adds to the answer. */
export function addedByChunk({ body, written }: ChatChunk): string {
  if (written !== undefined) return written.content;
  return body === undefined ? '' : deltaText(body.choices);
}

function deltaText(choices: unknown): string {
  if (!Array.isArray(choices)) return '';
  const first: unknown = choices[0];
  if (typeof first !== 'object' || first === null || !('delta' in first)) return '';
  const { delta } = first;
  if (typeof delta !== 'object' || delta === null) return '';
  return 'content' in delta && typeof delta.content === 'string'
    ? delta.content
    : Object.values(delta)
        .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
        .join();
}

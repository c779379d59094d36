import type { ChatChunk, ReadyStream } from '../vendor.ts';
import { EventSplitter, type SseEvent } from './sse.ts';

/** A vendor's reading of its own stream. */
export interface EventReader<Chunk = ChatChunk> {
  /** What an event adds, if anything. Throws UpstreamError for what it should not hold. */
  read(event: SseEvent): Chunk | undefined;
  /** Nothing behind this is read for its content. */
  readonly isDone: boolean;
  /** The body has ended; throws UpstreamError if that was too early. */
  end(): void;
}

/**
 * Chunks out of a body of server-sent events. All that came in one piece are read at once and without waiting: under
 * load that is most of them.
 */
export class EventChunks<Chunk = ChatChunk> implements ReadyStream<Chunk> {
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #splitter = new EventSplitter();
  readonly #reader: EventReader<Chunk>;
  #ready: Chunk[] = [];
  #next = 0;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  constructor(body: AsyncIterable<Buffer>, reader: EventReader<Chunk>) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#reader = reader;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  ready(): Chunk | undefined {
    return this.#next < this.#ready.length ? this.#ready[this.#next++] : undefined;
  }

  async next(): Promise<IteratorResult<Chunk, undefined>> {
    for (;;) {
      const chunk = this.ready();
      if (chunk !== undefined) return { value: chunk, done: false };
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#ended) return { value: undefined, done: true };
      this.#ready = [];
      this.#next = 0;
      try {
        this.#take(await this.#pieces.next());
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  async return(): Promise<IteratorResult<Chunk, undefined>> {
    this.#ended = true;
    await this.#pieces.return?.();
    return { value: undefined, done: true };
  }

  #take({ value, done }: IteratorResult<Buffer>): void {
    const events = done === true ? this.#splitter.end() : this.#splitter.push(value);
    for (const event of events) {
      if (this.#reader.isDone) break;
      const chunk = this.#reader.read(event);
      if (chunk !== undefined) this.#ready.push(chunk);
    }
    if (done !== true) return;
    this.#ended = true;
    this.#reader.end();
  }

  /** What came before a failure is handed out before it. */
  #fail(error: unknown): void {
    this.#ended = true;
    // Behind the end marker the body is read on only so that the connection can be used again.
    if (!this.#reader.isDone) this.#failure = { error };
  }
}

import { ApiError, UpstreamError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ChatChunk, ChunkStream } from '../vendors/index.ts';
import type { StreamMeter } from './stream-meter.ts';
import { tokenUsageView } from './token-usage.ts';

/** What stands in an answer in place of what would tell which upstream gave it. */
export interface ChatIds {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** A stream that has begun. */
export interface StartedChat {
  readonly first: ChatChunk;
  readonly rest: AsyncIterator<ChatChunk>;
  readonly ready: () => ChatChunk | undefined;
  /** Told of a fault that comes after the first chunk. */
  readonly onFault: OnFault;
}

type OnFault = (error: UpstreamError) => void;

/** A stream that ends before it began has failed. */
export async function withFirst(chunks: ChunkStream, onFault: OnFault): Promise<StartedChat> {
  const rest = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { value: first, done } = await rest.next();
    if (done === true) throw new UpstreamError('garbled', 'the stream ended without a chunk');
    if (first.body !== undefined) return { first, rest, ready: () => chunks.ready?.(), onFault };
  }
}

/**
 * The frames of a stream. Each text is what goes out at once: the frames of all chunks that came together. Written out
 * and not as a generator, whose every step would cost as much as the frame.
 */
export class ChatFrames implements AsyncIterableIterator<string, undefined> {
  readonly #started: StartedChat;
  readonly #meter: StreamMeter;
  readonly #ids: ChatIds;
  readonly #write: (chunk: ChatChunk) => string;
  #first: ChatChunk | undefined;
  #tellsUsage: boolean;

  constructor(started: StartedChat, meter: StreamMeter, ids: ChatIds, includeUsage: boolean) {
    this.#started = started;
    this.#meter = meter;
    this.#ids = ids;
    this.#write = frameWriter(ids, includeUsage);
    this.#first = started.first;
    this.#tellsUsage = includeUsage;
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
      if (error instanceof UpstreamError) this.#started.onFault(error);
      await this.return();
      throw error instanceof UpstreamError ? new ApiError('upstream_failed', { cause: error }) : error;
    }
  }

  /** Also when the consumer of the frames stops early: the upstream is let go, and what was delivered is charged. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#tellsUsage = false;
    await this.#started.rest.return?.();
    await this.#meter.settle();
    return { value: undefined, done: true };
  }

  #take(): Promise<IteratorResult<ChatChunk>> {
    const first = this.#first;
    this.#first = undefined;
    return first === undefined ? this.#started.rest.next() : Promise.resolve({ value: first, done: false });
  }

  #textOf(chunk: ChatChunk): string {
    let text = '';
    for (let at: ChatChunk | undefined = chunk; at !== undefined; at = this.#started.ready()) {
      this.#meter.count(at.usage === undefined ? addedBy(at) : '', at.usage);
      text += this.#write(at);
    }
    return text;
  }

  /** The caller who asked for usage gets one more frame, settled. */
  async #end(): Promise<IteratorResult<string, undefined>> {
    if (!this.#tellsUsage) return this.return();
    this.#tellsUsage = false;
    const { tokens, charged } = await this.#meter.settle();
    const frame = {
      ...this.#ids,
      object: 'chat.completion.chunk',
      choices: [],
      usage: tokenUsageView(tokens, charged),
    };
    return { value: `data: ${JSON.stringify(frame)}\n\n`, done: false };
  }
}

const REPLACED = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);

/** What is the same in every frame is written once. */
function frameWriter({ id, created, model }: ChatIds, includeUsage: boolean): (chunk: ChatChunk) => string {
  const same = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  const head = `data: ${same},"choices":`;
  const tail = includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  let bodyBefore: JsonObject | undefined;
  let more = '';
  return ({ body, written }) => {
    if (body === undefined) return '';
    if (body !== bodyBefore) more = moreOf(body);
    bodyBefore = body;
    return head + (written?.choices ?? JSON.stringify(body.choices)) + more + tail;
  };
}

function moreOf(body: JsonObject): string {
  let more = '';
  for (const name in body) if (!REPLACED.has(name)) more += `,${JSON.stringify(name)}:${JSON.stringify(body[name])}`;
  return more;
}

/** What a chunk adds to the answer, for counting where the upstream does not. */
function addedBy({ body, written }: ChatChunk): string {
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

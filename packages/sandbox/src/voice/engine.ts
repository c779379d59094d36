import { UpstreamError } from '../../../../src/errors.ts';
import { Thread } from '../../../../src/thread.ts';
import type { Upstream } from '../../../../src/vendors/kit/http.ts';
import type { Answer, Message } from './serve.ts';

const WAITING_MAX = 200;

/** Who does the work, and how many orders may be open at a time. */
interface Shop {
  readonly script: URL;
  readonly openMax: number;
  /** How long what it has loaded is kept without work; called when the work ends. */
  readonly idleMs?: () => number;
}

/**
 * Work that is handed out piece by piece, done in a thread of its own that is there while it is needed. The thread
 * makes a piece when the one before was read, and serves the orders round-robin, so that a long order or a slow reader
 * delays no other.
 */
export class Engine<Order, Piece> {
  readonly #shop: Shop;
  readonly #pending = new Map<number, (answer: Answer<Piece>) => void>();
  readonly #waiting = new Set<() => void>();
  #thread: Thread<Message<Order>, Answer<Piece>> | undefined;
  #open = 0;
  #lastId = 0;

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  /** `orderOf` is called when the order gets its slot. A reader that stops ends the work. Throws UpstreamError. */
  async *pieces(orderOf: () => Promise<Order>, upstream: Upstream): AsyncGenerator<Piece> {
    await this.#enter(upstream);
    const id = ++this.#lastId;
    try {
      const order = await orderOf();
      upstream.signal.throwIfAborted();
      this.#thread ??= this.#start();
      const thread = this.#thread;
      thread.give({ kind: 'open', id, order });
      for (;;) {
        const answer = await this.#ask(id, thread, upstream);
        if (answer.kind === 'end') return;
        if (answer.kind === 'failed') throw new UpstreamError(answer.fault, answer.detail);
        yield answer.piece;
      }
    } finally {
      this.#thread?.give({ kind: 'close', id });
      this.#leave();
    }
  }

  #start(): Thread<Message<Order>, Answer<Piece>> {
    const onEnd = (detail: string) => {
      this.#thread = undefined;
      for (const id of this.#pending.keys()) this.#settle({ kind: 'failed', id, fault: 'server', detail });
    };
    return new Thread(this.#shop.script, (answer: Answer<Piece>) => this.#settle(answer), onEnd, this.#shop.idleMs);
  }

  #settle(answer: Answer<Piece>): void {
    const { id } = answer;
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    resolve?.(answer);
  }

  async #ask(id: number, thread: Thread<Message<Order>, Answer<Piece>>, upstream: Upstream): Promise<Answer<Piece>> {
    // An order whose thread has ended between two pieces is lost with it.
    if (thread !== this.#thread) return { kind: 'failed', id, fault: 'server', detail: 'the thread ended' };
    const answer = new Promise<Answer<Piece>>((resolve) => this.#pending.set(id, resolve));
    thread.give({ kind: 'next', id });
    const late = () => new UpstreamError('timeout', 'the next piece takes longer than the time limit');
    return inTime(answer, upstream, late).finally(() => this.#pending.delete(id));
  }

  async #enter(upstream: Upstream): Promise<void> {
    upstream.signal.throwIfAborted();
    if (this.#open < this.#shop.openMax) {
      this.#open++;
      return;
    }
    const full = () => new UpstreamError('rate', 'too many orders are before this one');
    if (this.#waiting.size >= WAITING_MAX) throw full();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await inTime(promise, upstream, full).catch((error) => {
      const hasSlot = !this.#waiting.delete(resolve);
      if (hasSlot) this.#leave();
      throw error;
    });
  }

  /** Hands the slot to the order that waits longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#open--;
    if (this.#open === 0) this.#thread?.rest();
  }
}

/** The result, unless the caller leaves or the upstream was silent for too long before. */
async function inTime<Result>(
  result: Promise<Result>,
  { signal, timeoutMs }: Upstream,
  late: () => UpstreamError,
): Promise<Result> {
  signal.throwIfAborted();
  const abort = Promise.withResolvers<never>();
  const leave = () => abort.reject(signal.reason);
  const timer = setTimeout(() => abort.reject(late()), timeoutMs);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([result, abort.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

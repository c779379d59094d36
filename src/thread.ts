import { type Transferable, Worker } from 'node:worker_threads';

const IDLE_MS = 30_000;
/** All that a thread may know of the program's: the native build of Opus brings that down when its thread ends. */
const ENVIRONMENT = { OPUS_FORCE_WASM: '1' };

/** A thread that ends by itself when it has rested for a while, and never keeps the program from ending. */
export class Thread<Message, Report> {
  readonly #worker: Worker;
  readonly #onEnd: (detail: string) => void;
  readonly #idleMs: () => number;
  #idle: NodeJS.Timeout | undefined;
  #hasEnded = false;

  /**
   * `onEnd` is told once, when the thread will not report any more. `idleMs` is asked at each rest: how long the thread
   * may keep its memory while it does nothing.
   */
  constructor(
    script: URL,
    onReport: (report: Report) => void,
    onEnd: (detail: string) => void,
    idleMs: () => number = () => IDLE_MS,
  ) {
    this.#onEnd = onEnd;
    this.#idleMs = idleMs;
    this.#worker = new Worker(script, { env: ENVIRONMENT });
    this.#worker.on('message', onReport);
    this.#worker.on('error', (error) => this.#end(String(error)));
    this.#worker.on('exit', () => this.#end('the thread ended'));
    this.#worker.unref();
  }

  /** Memory that is handed over with it is the thread's from then on. */
  give(message: Message, handedOver: readonly Transferable[] = []): void {
    clearTimeout(this.#idle);
    this.#worker.postMessage(message, handedOver);
  }

  /** It has nothing to do until it is given something. */
  rest(): void {
    clearTimeout(this.#idle);
    if (this.#hasEnded) return;
    this.#idle = setTimeout(() => {
      this.#end('the thread was idle');
      void this.#worker.terminate();
    }, this.#idleMs());
    this.#idle.unref();
  }

  #end(detail: string): void {
    clearTimeout(this.#idle);
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(detail);
  }
}

import { Worker } from 'node:worker_threads';
import type { Piece } from './piece.ts';
import type { Report } from './thread.ts';

const THREADS_MAX = 2;
const IDLE_MS = 30_000;
const WAITING_MAX = 200;
const KEPT_BYTES_MAX = 256 * 1024 * 1024;
/** What nobody has asked after for so long, nobody will. */
const FORGOTTEN_MS = 600_000;

interface Making {
  readonly piece: Piece;
  report: Report;
  isBegun: boolean;
  isTaken: boolean;
  askedAtMs: number;
}

/**
 * Makes pieces in threads of its own, at most two at a time, and remembers what it made until it is asked for and the
 * room is needed. Whatever it forgets, or a restart takes, it makes again when it is asked again.
 */
export class Studio {
  readonly #makings = new Map<string, Making>();
  readonly #threads = new Set<Thread>();

  /** How far the piece of this name is. The first time that it is asked for, it begins. */
  look(id: string, piece: Piece): Report {
    const making = this.#makings.get(id) ?? this.#accept(id, piece);
    if (making === undefined) return { state: 'running', part: 0 };
    making.askedAtMs = performance.now();
    making.isTaken = making.report.state === 'made';
    return making.report;
  }

  /** Undefined if too many wait already; asking again later helps. */
  #accept(id: string, piece: Piece): Making | undefined {
    const waiting = [...this.#makings.values()].filter(({ isBegun }) => !isBegun).length;
    if (waiting >= WAITING_MAX) return undefined;
    const report: Report = { state: 'running', part: 0 };
    const making = { piece, report, isBegun: false, isTaken: false, askedAtMs: performance.now() };
    this.#makings.set(id, making);
    this.#beginNext();
    return making;
  }

  #beginNext(): void {
    this.#makeRoom();
    const next = [...this.#makings.values()].find(({ isBegun }) => !isBegun);
    if (next === undefined || this.#keptBytes() > KEPT_BYTES_MAX) return;
    const thread = this.#freeThread();
    if (thread === undefined) return;
    next.isBegun = true;
    thread.give(next.piece, (report) => {
      next.report = report;
      if (report.state !== 'running') this.#beginNext();
    });
    this.#beginNext();
  }

  #freeThread(): Thread | undefined {
    const free = [...this.#threads].find((thread) => thread.isFree);
    if (free !== undefined || this.#threads.size >= THREADS_MAX) return free;
    const thread: Thread = new Thread(() => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }

  /** Lets go of what was handed out, the oldest first, and of what was forgotten. */
  #makeRoom(): void {
    const now = performance.now();
    for (const [id, { report, isTaken, askedAtMs }] of this.#makings) {
      const isEnded = report.state !== 'running';
      const isDropped = isEnded && (now - askedAtMs > FORGOTTEN_MS || (isTaken && this.#keptBytes() > KEPT_BYTES_MAX));
      if (isDropped) this.#makings.delete(id);
    }
  }

  #keptBytes(): number {
    const made = [...this.#makings.values()].flatMap(({ report }) => (report.state === 'made' ? report.made : []));
    return made.reduce((sum, { data }) => sum + data.byteLength, 0);
  }
}

/** A thread with one piece at a time. It ends by itself when nothing comes, and never keeps the program from ending. */
class Thread {
  readonly #worker = new Worker(new URL('./thread.ts', import.meta.url));
  readonly #onEnd: () => void;
  #onReport: ((report: Report) => void) | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#worker.unref();
    this.#worker.on('message', (report: Report) => this.#tell(report));
    this.#worker.on('error', (error) => this.#fail(String(error)));
    this.#worker.on('exit', () => this.#fail('the thread ended'));
  }

  get isFree(): boolean {
    return this.#onReport === undefined;
  }

  give(piece: Piece, onReport: (report: Report) => void): void {
    clearTimeout(this.#idle);
    this.#onReport = onReport;
    this.#worker.postMessage(piece);
  }

  #tell(report: Report): void {
    const onReport = this.#onReport;
    if (report.state !== 'running') {
      this.#onReport = undefined;
      this.#idle = setTimeout(() => this.#stop(), IDLE_MS);
      this.#idle.unref();
    }
    onReport?.(report);
  }

  #stop(): void {
    this.#onEnd();
    void this.#worker.terminate();
  }

  #fail(detail: string): void {
    clearTimeout(this.#idle);
    this.#onEnd();
    const onReport = this.#onReport;
    this.#onReport = undefined;
    onReport?.({ state: 'failed', detail });
  }
}

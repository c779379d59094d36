import { Thread } from '../../../../src/thread.ts';
import type { Piece } from './piece.ts';
import type { Report } from './thread.ts';

const THREADS_MAX = 2;
const WAITING_MAX = 200;
const KEPT_BYTES_MAX = 256 * 1024 * 1024;
/** A result that was handed out is asked for again only if it could not be stored. */
const TAKEN_MS = 60_000;
/** A result that was not polled for so long is abandoned. */
const FORGOTTEN_MS = 600_000;
const RUNNING: Report = { state: 'running', part: 0 };

interface Making {
  readonly piece: Piece;
  report: Report;
  isBegun: boolean;
  isTaken: boolean;
  polledAtMs: number;
}

/**
 * Makes pieces in threads of its own, at most two at a time, and remembers what it made until it is asked for and the
 * room is needed. Whatever it forgets, or a restart takes, it makes again when it is asked again.
 */
export class Studio {
  readonly #makings = new Map<string, Making>();
  readonly #benches = new Set<Bench>();
  readonly #keptBytesMax: number;

  constructor(keptBytesMax = KEPT_BYTES_MAX) {
    this.#keptBytesMax = keptBytesMax;
  }

  /** How far the piece of this name is. The first time that it is asked for, it begins. */
  look(id: string, piece: Piece): Report {
    const making = this.#makings.get(id) ?? this.#accept(id, piece);
    if (making === undefined) return RUNNING;
    making.polledAtMs = performance.now();
    if (making.report.state === 'made' && !making.isTaken) {
      making.isTaken = true;
      this.#makeRoomIn(TAKEN_MS);
    }
    this.#beginNext();
    return making.report;
  }

  /** Undefined if too many wait already; asking again later helps. */
  #accept(id: string, piece: Piece): Making | undefined {
    const waiting = [...this.#makings.values()].filter(({ isBegun }) => !isBegun).length;
    if (waiting >= WAITING_MAX) return undefined;
    const making = { piece, report: RUNNING, isBegun: false, isTaken: false, polledAtMs: performance.now() };
    this.#makings.set(id, making);
    return making;
  }

  #beginNext(): void {
    this.#makeRoom();
    const next = [...this.#makings.values()].find(({ isBegun }) => !isBegun);
    if (next === undefined || this.#keptBytes() > this.#keptBytesMax) return;
    const bench = this.#freeBench();
    if (bench === undefined) return;
    next.isBegun = true;
    bench.give(next.piece, (report) => {
      next.report = report;
      if (report.state === 'running') return;
      this.#makeRoomIn(FORGOTTEN_MS);
      this.#beginNext();
    });
    this.#beginNext();
  }

  #freeBench(): Bench | undefined {
    const free = [...this.#benches].find((bench) => bench.isFree);
    if (free !== undefined || this.#benches.size >= THREADS_MAX) return free;
    const bench: Bench = new Bench(() => this.#benches.delete(bench));
    this.#benches.add(bench);
    return bench;
  }

  #makeRoomIn(delayMs: number): void {
    setTimeout(() => this.#makeRoom(), delayMs + 1).unref();
  }

  /** Evicts what is no longer polled and, over the budget of memory, what was handed out. */
  #makeRoom(): void {
    const now = performance.now();
    for (const [id, { report, isBegun, isTaken, polledAtMs }] of this.#makings) {
      const isBeingMade = isBegun && report.state === 'running';
      const isOld = now - polledAtMs > (isTaken ? TAKEN_MS : FORGOTTEN_MS);
      const isInTheWay = isTaken && this.#keptBytes() > this.#keptBytesMax;
      if (!isBeingMade && (isOld || isInTheWay)) this.#makings.delete(id);
    }
  }

  #keptBytes(): number {
    const results = [...this.#makings.values()].flatMap(({ report }) => (report.state === 'made' ? report.made : []));
    return results.reduce((sum, { data }) => sum + data.byteLength, 0);
  }
}

/** A thread with one piece at a time. */
class Bench {
  readonly #thread: Thread<Piece, Report>;
  #onReport: ((report: Report) => void) | undefined;

  constructor(onEnd: () => void) {
    const end = (detail: string) => {
      onEnd();
      this.#tell({ state: 'failed', detail });
    };
    this.#thread = new Thread(new URL('./thread.ts', import.meta.url), (report: Report) => this.#tell(report), end);
  }

  get isFree(): boolean {
    return this.#onReport === undefined;
  }

  give(piece: Piece, onReport: (report: Report) => void): void {
    this.#onReport = onReport;
    this.#thread.give(piece);
  }

  #tell(report: Report): void {
    const onReport = this.#onReport;
    if (report.state !== 'running') {
      this.#onReport = undefined;
      this.#thread.rest();
    }
    onReport?.(report);
  }
}

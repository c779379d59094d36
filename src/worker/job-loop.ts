import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Bus, TestClock } from '../db/index.ts';
import type { Engine } from '../jobs/index.ts';
import { JOB_LEASE_MS } from '../limits.ts';
import type { Logger } from '../log.ts';

const REST_MS_MAX = 1_000;
/** How often the queue is polled for jobs that became due without a notification. */
const LOOK_EVERY_MS = 200;

interface LoopDeps {
  readonly engine: Engine;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly testClock: TestClock | undefined;
}

/** Works on jobs as they become due, many at a time. */
export class JobLoop {
  readonly #deps: LoopDeps;
  readonly #timers: NodeJS.Timeout[];
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
    this.#timers = [
      setInterval(() => this.look(), LOOK_EVERY_MS).unref(),
      setInterval(() => void this.#extend(), JOB_LEASE_MS / 4).unref(),
    ];
    deps.bus.on('job', () => this.look());
    // A move of the clock must not make what is in hand look abandoned.
    deps.testClock?.onMoved(async () => {
      await this.#extend();
      this.look();
      await this.#rest();
    });
  }

  /** There may be something to do. */
  look(): void {
    this.#lookAgain = true;
    this.#looking ??= this.#takeWhileDue().finally(() => {
      this.#looking = undefined;
      // look() was called just when the last look was over.
      if (this.#lookAgain && this.#deps.engine.leased.room > 0) this.look();
    });
  }

  /** What a move of the clock made due is done before the move is answered, unless an upstream takes its time. */
  async #rest(): Promise<void> {
    const patience = setTimeout(REST_MS_MAX, undefined, { ref: false });
    await Promise.race([this.#looking, patience]);
    await Promise.race([this.#deps.engine.leased.settled(), patience]);
  }

  /** Lets what is in hand come to its next point of rest; what has not by then is taken up by another worker. */
  async stop(timeoutMs: number): Promise<void> {
    const stopped = this.#deps.engine.leased.stop(timeoutMs);
    await this.#looking;
    await stopped;
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #takeWhileDue(): Promise<void> {
    const { engine, log } = this.#deps;
    try {
      for (let room = engine.leased.room; this.#lookAgain && room > 0; room = engine.leased.room) {
        this.#lookAgain = false;
        const works = await engine.leased.take();
        if (works.length >= room) this.#lookAgain = true;
        for (const { done } of works) void done.then(() => this.#lookWhereDue());
      }
    } catch (error) {
      log.warn({ err: error }, 'the queue of jobs could not be read');
    }
  }

  /** There is room again, and perhaps a due job waiting for it. */
  #lookWhereDue(): void {
    if (this.#lookAgain) this.look();
  }

  async #extend(): Promise<void> {
    try {
      await this.#deps.engine.extendLeases();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the leases of jobs were not extended');
    }
  }
}

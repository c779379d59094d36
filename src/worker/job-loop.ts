import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Bus, TestClock } from '../db/index.ts';
import type { Engine } from '../jobs/index.ts';
import { JOB_LEASE_MS, JOB_STEPS_AT_ONCE_MAX } from '../limits.ts';
import type { Logger } from '../log.ts';

const REST_MS_MAX = 1_000;
/** How often the queue is polled for jobs that became due without a notification. */
const LOOK_EVERY_MS = 200;
/** One look takes at most this many, so that the processes of a deployment share what there is. */
const TAKEN_AT_ONCE_MAX = 128;

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
  readonly #leaving = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[];
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #stopped = false;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
    setMaxListeners(0, this.#leaving.signal);
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
      if (this.#lookAgain && this.#room > 0 && !this.#stopped) this.look();
    });
  }

  /** What a move of the clock made due is done before the move is answered, unless an upstream takes its time. */
  async #rest(): Promise<void> {
    const patience = setTimeout(REST_MS_MAX, undefined, { ref: false });
    await Promise.race([this.#looking, patience]);
    await Promise.race([Promise.all(this.#running), patience]);
  }

  /** Lets what is in hand come to its next point of rest; what has not by then is taken up by another worker. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true;
    const deadline = AbortSignal.timeout(timeoutMs);
    const abort = () => this.#leaving.abort();
    deadline.addEventListener('abort', abort);
    await this.#looking;
    await Promise.all(this.#running);
    deadline.removeEventListener('abort', abort);
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #takeWhileDue(): Promise<void> {
    const { engine, log } = this.#deps;
    try {
      while (this.#lookAgain && !this.#stopped) {
        const room = this.#room;
        if (room === 0) return;
        this.#lookAgain = false;
        const jobs = await engine.take(room);
        if (jobs.length === room) this.#lookAgain = true;
        for (const job of jobs) this.#start(engine.run(job, this.#leaving.signal));
      }
    } catch (error) {
      log.warn({ err: error }, 'the queue of jobs could not be read');
    }
  }

  get #room(): number {
    return Math.min(JOB_STEPS_AT_ONCE_MAX - this.#running.size, TAKEN_AT_ONCE_MAX);
  }

  #start(run: Promise<void>): void {
    const done = run.finally(() => {
      this.#running.delete(done);
      // There is room again, and perhaps a due job waiting for it.
      if (this.#lookAgain) this.look();
    });
    this.#running.add(done);
  }

  async #extend(): Promise<void> {
    try {
      await this.#deps.engine.extend();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the leases of jobs were not extended');
    }
  }
}

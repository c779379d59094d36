import cluster, { type Worker } from 'node:cluster';
import type { Environment } from '../config.ts';
import type { Logger } from '../log.ts';

const RESTART_MS = { first: 1_000, most: 30_000 };
/** A process that lived this long has earned a fresh start of the back-off. */
const HEALTHY_AFTER_MS = 60_000;

/** What a process and its supervisor tell each other. */
type Order = 'stop' | 'end' | 'reapply';
interface Ready {
  readonly ready: string;
}

interface SupervisorDeps {
  readonly count: number;
  /** Of the process at a place, from 0 on. */
  readonly environmentOf: (place: number) => Environment;
  readonly log: Logger;
}

interface Supervised {
  readonly worker: Worker;
  readonly startedMs: number;
}

/**
 * Keeps `count` processes on one port: the supervisor accepts connections and deals them out in turn. One that ends is
 * started again, with a back-off and a line in the log each time.
 */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #processes = new Map<number, Supervised>();
  readonly #restartMs = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #ended = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // The commands of a shell go to the supervisor, which tells them on.
    cluster.setupPrimary({ args: ['serve'] });
  }

  /** Resolves to what the first one has to say once all are ready; false where one ended before, which has said why. */
  async start(): Promise<string | false> {
    // The first alone: it migrates, and makes what a first start makes.
    const told = await this.#start(0);
    if (told === false) return false;
    const others = Array.from({ length: this.#deps.count - 1 }, (_, index) => this.#start(index + 1));
    return (await Promise.all(others)).includes(false) ? false : told;
  }

  /** Tells one of them: what it changes, the others hear of through the database. */
  reapply(): void {
    const [first] = this.#processes.values();
    first?.worker.send('reapply' satisfies Order, () => undefined);
  }

  /** Resolves when all have drained and ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#tellAll('stop');
    this.#checkEnded();
    await this.#ended.promise;
  }

  /** Ends all without waiting for requests. */
  end(): void {
    this.#isStopping = true;
    this.#tellAll('end');
  }

  #tellAll(order: Order): void {
    for (const { worker } of this.#processes.values()) worker.send(order, () => undefined);
  }

  async #start(place: number): Promise<string | false> {
    if (this.#isStopping) return false;
    const worker = cluster.fork(this.#deps.environmentOf(place));
    const startedMs = performance.now();
    this.#processes.set(place, { worker, startedMs });
    const ready = Promise.withResolvers<string | false>();
    let isReady = false;
    worker.on('message', (message: Ready) => {
      isReady = true;
      ready.resolve(message.ready);
    });
    worker.once('exit', (code, signal) => {
      this.#processes.delete(place);
      ready.resolve(false);
      this.#checkEnded();
      const isRestart = this.#restartMs.has(place);
      if (this.#isStopping || !(isReady || isRestart)) return;
      if (performance.now() - startedMs >= HEALTHY_AFTER_MS) this.#restartMs.delete(place);
      this.#restart(place, { pid: worker.process.pid, code, signal });
    });
    return ready.promise;
  }

  #restart(place: number, ended: { pid: number | undefined; code: number | null; signal: string | null }): void {
    const afterMs = this.#restartMs.get(place) ?? RESTART_MS.first;
    this.#restartMs.set(place, Math.min(afterMs * 2, RESTART_MS.most));
    this.#deps.log.error({ ...ended, process: place + 1, restart_ms: afterMs }, 'a process ended and is started again');
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#start(place).then((told) => {
        if (told !== false) this.#deps.log.info({ process: place + 1 }, 'a process that had ended serves again');
      });
    }, afterMs);
    this.#timers.add(timer);
  }

  #checkEnded(): void {
    if (this.#isStopping && this.#processes.size === 0) this.#ended.resolve();
  }
}

/** The side of a process under a supervisor. */
export interface Orders {
  readonly stop: () => void;
  readonly end: () => void;
  readonly reapply: () => void;
}

/** Whether this process has a supervisor. */
export function isSupervised(): boolean {
  return cluster.isWorker;
}

/** Obeys the supervisor, and stops in order when that is gone. */
export function obeySupervisor(orders: Orders): void {
  process.on('message', (order: Order) => orders[order]());
  // Without this the runtime ends a process whose supervisor is gone in the middle of its requests.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  process.on('disconnect', orders.stop);
}

export function tellReady(text: string): void {
  process.send?.({ ready: text } satisfies Ready);
}

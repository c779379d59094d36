import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable } from './errors.ts';

interface Pending<Member, Result> {
  readonly member: Member;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit, and for reads a batch loader: members added while one round runs form the next, so that under load many
 * share one transaction and one flush to disk. Each is answered as if it had been alone. The error of one member does not
 * become the others': a round that fails is bisected until the member stands alone.
 */
export class GroupCommit<Member, Result> {
  readonly #run: (members: readonly Member[]) => Promise<readonly Result[]>;
  readonly #membersMax: number;
  readonly #lingerMs: number;
  readonly #roundsMax: number;
  #pending: Pending<Member, Result>[] = [];
  #isCollecting = false;
  /** Something waits for a round, not only what was deferred. */
  #isUrgent = false;
  #deferred: NodeJS.Timeout | undefined;
  #rounds = 0;
  #size = 0;

  /**
   * `run` answers each member at its index, and does all or nothing. A round is delayed by `lingerMs` so that more
   * members join it, where latency does not matter. Up to `roundsMax` run at a time, where their order does not matter.
   */
  constructor(
    run: (members: readonly Member[]) => Promise<readonly Result[]>,
    membersMax: number,
    lingerMs = 0,
    roundsMax = 1,
  ) {
    this.#run = run;
    this.#membersMax = membersMax;
    this.#lingerMs = lingerMs;
    this.#roundsMax = roundsMax;
  }

  /** How many members have no answer yet. */
  get size(): number {
    return this.#size;
  }

  add(member: Member): Promise<Result> {
    const result = this.#enqueue(member);
    this.#isUrgent = true;
    this.#start();
    return result;
  }

  /** Adds a member that starts no round within `deferMs`: it joins the next one, or the one that `flush` starts. */
  defer(member: Member, deferMs: number): Promise<Result> {
    this.#deferred ??= setTimeout(() => this.flush(), deferMs);
    return this.#enqueue(member);
  }

  flush(): void {
    this.#isUrgent = true;
    this.#start();
  }

  #enqueue(member: Member): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#size += 1;
      this.#pending.push({ member, resolve, reject });
    });
  }

  #start(): void {
    const mayStart = this.#isUrgent && !this.#isCollecting && this.#rounds < this.#roundsMax;
    if (mayStart && this.#pending.length > 0) void this.#next();
  }

  async #next(): Promise<void> {
    this.#isCollecting = true;
    // A turn of the event loop first, so that members of the same packet, or of callers just answered, can join.
    await (this.#lingerMs === 0 ? nextTurn() : sleep(this.#lingerMs));
    this.#isCollecting = false;
    this.#rounds += 1;
    clearTimeout(this.#deferred);
    this.#deferred = undefined;
    const rounds = this.#round(this.#pending.splice(0, this.#membersMax));
    this.#isUrgent = this.#pending.length > 0;
    this.#start();
    await rounds;
    this.#rounds -= 1;
    this.#start();
  }

  async #round(round: readonly Pending<Member, Result>[]): Promise<void> {
    try {
      const results = await this.#run(round.map(({ member }) => member));
      this.#size -= round.length;
      for (const [index, { resolve }] of round.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (round.length === 1 || error instanceof DatabaseUnavailable) {
        this.#size -= round.length;
        for (const { reject } of round) reject(error);
        return;
      }
      const middle = round.length >> 1;
      await this.#round(round.slice(0, middle));
      await this.#round(round.slice(middle));
    }
  }
}

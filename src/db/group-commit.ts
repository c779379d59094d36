import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import { DatabaseUnavailable } from './db.ts';

interface Pending<Member, Result> {
  readonly member: Member;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit, and for reads a batch loader: members added while one round runs form the next, so that under load many
 * share one transaction and one flush to disk. Each is answered as if it had been alone; an error that is one member's
 * does not become the others', because a round that fails is run again one by one.
 */
export class GroupCommit<Member, Result> {
  readonly #run: (members: readonly Member[]) => Promise<readonly Result[]>;
  readonly #membersMax: number;
  readonly #lingerMs: number;
  #pending: Pending<Member, Result>[] = [];
  #running = false;

  /**
   * `run` answers each member at its index, and does all or nothing. A round is delayed by `lingerMs` so that more
   * members join it, where latency does not matter.
   */
  constructor(run: (members: readonly Member[]) => Promise<readonly Result[]>, membersMax: number, lingerMs = 0) {
    this.#run = run;
    this.#membersMax = membersMax;
    this.#lingerMs = lingerMs;
  }

  add(member: Member): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ member, resolve, reject });
      if (!this.#running) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#running = true;
    // A turn of the event loop first, so that members of the same packet, or of callers just answered, can join.
    for (await this.#delay(); this.#pending.length > 0; await this.#delay()) {
      await this.#round(this.#pending.splice(0, this.#membersMax));
    }
    this.#running = false;
  }

  #delay(): Promise<void> {
    return this.#lingerMs === 0 ? nextTurn() : pass(this.#lingerMs);
  }

  async #round(round: readonly Pending<Member, Result>[]): Promise<void> {
    try {
      const results = await this.#run(round.map(({ member }) => member));
      for (const [index, { resolve }] of round.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (round.length === 1 || error instanceof DatabaseUnavailable) for (const { reject } of round) reject(error);
      else for (const one of round) await this.#round([one]);
    }
  }
}

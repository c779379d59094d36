import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import { DatabaseUnavailable } from './db.ts';

interface Waiting<Member, Told> {
  readonly member: Member;
  readonly resolve: (told: Told) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: what comes while one round is on its way forms the next, so that under load many share one transaction
 * and one flush to disk. Each is answered as if it had been alone; an error that is one member's does not become the
 * others', because a round that fails is run again one by one.
 */
export class Gathering<Member, Told> {
  readonly #run: (members: readonly Member[]) => Promise<readonly Told[]>;
  readonly #membersMax: number;
  readonly #lingerMs: number;
  #waiting: Waiting<Member, Told>[] = [];
  #running = false;

  /**
   * `run` answers each member at its place, and does all or nothing. Where nobody is in a hurry, rounds wait for company
   * for as long as `lingerMs`.
   */
  constructor(run: (members: readonly Member[]) => Promise<readonly Told[]>, membersMax: number, lingerMs = 0) {
    this.#run = run;
    this.#membersMax = membersMax;
    this.#lingerMs = lingerMs;
  }

  add(member: Member): Promise<Told> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ member, resolve, reject });
      if (!this.#running) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#running = true;
    // A turn of the event loop first: whoever was just answered, or has come with the same packet, can join.
    for (await this.#company(); this.#waiting.length > 0; await this.#company()) {
      await this.#round(this.#waiting.splice(0, this.#membersMax));
    }
    this.#running = false;
  }

  #company(): Promise<void> {
    return this.#lingerMs === 0 ? nextTurn() : pass(this.#lingerMs);
  }

  async #round(round: readonly Waiting<Member, Told>[]): Promise<void> {
    try {
      const told = await this.#run(round.map(({ member }) => member));
      for (const [place, { resolve }] of round.entries()) resolve(told[place] as Told);
    } catch (error) {
      if (round.length === 1 || error instanceof DatabaseUnavailable) for (const { reject } of round) reject(error);
      else for (const one of round) await this.#round([one]);
    }
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { DatabaseUnavailable, type Db } from '../db/index.ts';
import { RESERVATION_LEASE_MS } from '../limits.ts';
import { type Admission, byAccount, checked, checkedEnding, type Ending, toAdmission, toEnding } from './members.ts';
import {
  type AskedReservation,
  type LedgerAnswers,
  type NewEnding,
  type NewReservation,
  type Patience,
  runLedger,
} from './store.ts';

const MEMBERS_PER_BATCH_MAX = 256;
/** Connections that may wait for locked accounts; the rest of the pool goes on. */
const SLOW_ACCOUNTS_MAX = 4;

interface BatchDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Owns the reservations made here; see CallLedger.extendLease. */
  readonly processId: string;
}

interface Waiting<Told> {
  readonly accountId: string;
  readonly resolve: (told: Told) => void;
  readonly reject: (error: unknown) => void;
}

interface Reserving extends Waiting<Admission> {
  readonly kind: 'reserve';
  readonly asked: AskedReservation;
}

interface Ender extends Waiting<Ending> {
  readonly kind: 'end';
  readonly asked: NewEnding;
}

type Member = Reserving | Ender;

/**
 * Group commit: what is asked while one batch is on its way forms the next, so that under load many calls share one round
 * trip, one transaction and one flush to disk. Each is answered after the commit, just as if it had been alone.
 *
 * An account that somebody else holds is left out of the batch. All of those get a second try together, which waits
 * briefly, because another process's batch is over in milliseconds; after that each waits alone.
 */
export class LedgerBatch {
  readonly #deps: BatchDeps;
  readonly #first = new Queue((members) => this.#run(members, 'skip'));
  readonly #second = new Queue((members) => this.#run(members, 'brief'));
  readonly #slow = new Map<string, Queue>();
  #unanswered = 0;

  constructor(deps: BatchDeps) {
    this.#deps = deps;
  }

  /** How many are waiting. */
  get size(): number {
    return this.#unanswered;
  }

  /** As the verb of the same name, in a transaction of its own and under this process's lease. */
  reserve(asked: NewReservation, isLate = false): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const { accountId } = checked(asked);
      this.#add({ kind: 'reserve', accountId, asked: { ...asked, isLate }, resolve, reject });
    });
  }

  /** As `settle` and `refund`, in a transaction of its own. */
  end({ accountId }: Pick<NewReservation, 'accountId'>, ending: NewEnding): Promise<Ending> {
    return new Promise((resolve, reject) => {
      const asked = { ...checkedEnding(ending), accountId };
      this.#add({ kind: 'end', accountId, asked, resolve, reject });
    });
  }

  #add(member: Member): void {
    this.#unanswered += 1;
    (this.#slow.get(member.accountId) ?? this.#first).add(member);
  }

  async #run(members: readonly Member[], patience: Patience): Promise<void> {
    const reserving = members.filter((member) => member.kind === 'reserve').sort(byAccount);
    const ending = members.filter((member) => member.kind === 'end');
    const answers = await this.#ask(reserving, ending, patience).catch((error: unknown) => ({ error }));
    if ('error' in answers) return this.#recover(members, patience, answers.error);
    for (const [place, member] of reserving.entries()) {
      const answer = answers.reserved[place];
      if (answer === 'busy') this.#again(member);
      else this.#tell(member, () => toAdmission(answer, member.asked.id));
    }
    for (const [place, member] of ending.entries()) {
      const answer = answers.ended[place];
      if (answer === 'busy') this.#again(member);
      else this.#tell(member, () => toEnding(answer, member.asked.id));
    }
  }

  #ask(reserving: readonly Reserving[], ending: readonly Ender[], patience: Patience): Promise<LedgerAnswers> {
    const { db, clock, processId } = this.#deps;
    const now = clock.now();
    return runLedger(db, {
      now,
      patience,
      endings: ending.map((member) => member.asked),
      reservations: reserving.map((member) => member.asked),
      lease: { owner: processId, until: new Date(now.getTime() + RESERVATION_LEASE_MS) },
    });
  }

  #tell<Told>(member: Waiting<Told>, told: () => Told): void {
    this.#unanswered -= 1;
    try {
      member.resolve(told());
    } catch (error) {
      member.reject(error);
    }
  }

  /** One member's error must not be the others': halves are tried again until it stands alone. */
  async #recover(members: readonly Member[], patience: Patience, error: unknown): Promise<void> {
    if (patience === 'brief' && isLockTimeout(error)) {
      for (const member of members) this.#waitAlone(member);
    } else if (members.length === 1 || error instanceof DatabaseUnavailable) {
      for (const member of members) this.#reject(member, error);
    } else {
      const middle = members.length >> 1;
      await this.#run(members.slice(0, middle), patience);
      await this.#run(members.slice(middle), patience);
    }
  }

  #reject(member: Member, error: unknown): void {
    this.#unanswered -= 1;
    member.reject(error);
  }

  #again(member: Member): void {
    (this.#slow.get(member.accountId) ?? this.#second).add(member);
  }

  #waitAlone(member: Member): void {
    const { accountId } = member;
    if (!this.#slow.has(accountId) && this.#slow.size < SLOW_ACCOUNTS_MAX) {
      const forget = () => this.#slow.delete(accountId);
      this.#slow.set(accountId, new Queue((members) => this.#run(members, 'wait'), forget));
    }
    this.#again(member);
  }
}

/** Does one piece of work at a time, on all that has come since the one before. */
class Queue {
  readonly #work: (members: readonly Member[]) => Promise<void>;
  readonly #onIdle: () => void;
  #members: Member[] = [];
  #running = false;

  constructor(work: (members: readonly Member[]) => Promise<void>, onIdle: () => void = () => undefined) {
    this.#work = work;
    this.#onIdle = onIdle;
  }

  add(member: Member): void {
    this.#members.push(member);
    if (!this.#running) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#running = true;
    // A turn of the event loop first: whoever was just answered, or has come with the same packet, can join.
    for (await nextTurn(); this.#members.length > 0; await nextTurn()) {
      await this.#work(this.#members.splice(0, MEMBERS_PER_BATCH_MAX));
    }
    this.#running = false;
    this.#onIdle();
  }
}

function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === '55P03';
}

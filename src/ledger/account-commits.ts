import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { DatabaseUnavailable, type Db, GroupCommit } from '../db/index.ts';
import { DB_LOCK_TIMEOUT_MS, RESERVATION_LEASE_MS } from '../limits.ts';
import type { Change, NewEnding, NewReservation } from './change.ts';
import { type Admission, checkAmount, type Ending, toAdmission, toEnding } from './outcomes.ts';
import { type Answer, commitChanges, type EndAnswer, type LockMode, type ReserveAnswer } from './store.ts';

const CHANGES_PER_COMMIT_MAX = 256;
/** Connections that may wait for the locks of contended accounts; the rest of the pool goes on. */
const CONTENDED_ACCOUNTS_MAX = 4;
/** Between two tries to lock an account, for the changes that no connection waits for. */
const LOCK_RETRY_MS = 10;

interface AccountCommitsDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Owns the reservations made here; see CallLedger.extendLease. */
  readonly processId: string;
}

/**
 * Reservations and endings by group commit, each under the lock of its account's row. An account that another transaction
 * has locked is left out of the commit, so that it does not hold up the others; it then gets a group commit of its own,
 * which waits for the lock.
 */
export class AccountCommits {
  readonly #deps: AccountCommitsDeps;
  readonly #commits = this.#groupCommit('skip');
  readonly #contended = new Map<string, GroupCommit<Change, Answer>>();
  #size = 0;

  constructor(deps: AccountCommitsDeps) {
    this.#deps = deps;
  }

  /** How many changes have no answer yet. */
  get size(): number {
    return this.#size;
  }

  /** As the verb of the same name, in a transaction of its own and under this process's lease. See `Change` for `isLate`. */
  async reserve(reservation: NewReservation, isLate = false): Promise<Admission> {
    checkAmount(reservation.amount);
    const answer = await this.#commit({ kind: 'reserve', isLate, ...reservation });
    return toAdmission(answer as ReserveAnswer, reservation.id);
  }

  /** As `settle` and `refund`, in a transaction of its own. */
  async end({ accountId }: Pick<NewReservation, 'accountId'>, ending: NewEnding): Promise<Ending> {
    checkAmount(ending.actual ?? 0n);
    const answer = await this.#commit({ kind: 'end', ...ending, accountId });
    return toEnding(answer as EndAnswer, ending.id);
  }

  async #commit(change: Change & { readonly accountId: string }): Promise<Answer> {
    this.#size += 1;
    try {
      for (const deadlineMs = performance.now() + DB_LOCK_TIMEOUT_MS; ; ) {
        const answer = await this.#tryCommit(change);
        if (answer !== 'busy') return answer;
        if (this.#mayWaitFor(change.accountId)) continue;
        if (performance.now() > deadlineMs) throw new DatabaseUnavailable('The account was not unlocked in time.');
        await sleep(LOCK_RETRY_MS);
      }
    } finally {
      this.#size -= 1;
    }
  }

  async #tryCommit(change: Change & { readonly accountId: string }): Promise<Answer> {
    const { accountId } = change;
    const ownCommits = this.#contended.get(accountId);
    try {
      return await (ownCommits ?? this.#commits).add(change);
    } finally {
      if (ownCommits?.size === 0) this.#contended.delete(accountId);
    }
  }

  #mayWaitFor(accountId: string): boolean {
    if (this.#contended.has(accountId)) return true;
    if (this.#contended.size >= CONTENDED_ACCOUNTS_MAX) return false;
    this.#contended.set(accountId, this.#groupCommit('wait'));
    return true;
  }

  #groupCommit(lockMode: LockMode): GroupCommit<Change, Answer> {
    return new GroupCommit((changes: readonly Change[]) => {
      const { db, clock, processId } = this.#deps;
      const now = clock.now();
      const lease = { owner: processId, until: new Date(now.getTime() + RESERVATION_LEASE_MS) };
      return commitChanges(db, { now, lockMode, changes, lease });
    }, CHANGES_PER_COMMIT_MAX);
  }
}

import type { Tx } from '../db/index.ts';
import { type CreditRefusal, type NewReservation, reserveAll } from '../ledger/index.ts';
import { OPEN_JOBS_PER_ACCOUNT_MAX } from '../limits.ts';

/** Needs credits, and one of its account's places in the queue. */
interface Reserving {
  readonly reservation: NewReservation;
}

export interface QueuePlace<Member> {
  readonly member: Member;
  /** How many open jobs its account has before it. */
  readonly behind: number;
}

interface Admission<Member> {
  /** Their credits are reserved. */
  readonly admitted: readonly QueuePlace<Member>[];
  readonly refused: ReadonlyMap<Member, CreditRefusal | 'capacity'>;
}

/**
 * Credits, then capacity (specification, order of faults): each is judged as if it had come alone after those that were
 * admitted before it, and one that is refused has neither credits nor a place. `open` counts each account's open jobs and
 * is only right under the accounts' locks.
 */
export async function reserveWithinCapacity<Member extends Reserving>(
  tx: Tx,
  members: readonly Member[],
  open: ReadonlyMap<string, number>,
  now: Date,
): Promise<Admission<Member>> {
  const counts = new Map(open);
  const known = new Verdicts();
  const admitted: QueuePlace<Member>[] = [];
  const refused = new Map<Member, CreditRefusal | 'capacity'>();
  let waiting = members;
  for (;;) {
    const round = withinCapacity(waiting, counts);
    if (round.length === 0) break;
    const reservations = round.map(({ reservation }) => reservation);
    const refusals = await reserveAll(tx, reservations, now);
    for (const member of round) {
      const { id, accountId } = member.reservation;
      const refusal = refusals.get(id);
      if (refusal === undefined) {
        const behind = counts.get(accountId) ?? 0;
        counts.set(accountId, behind + 1);
        admitted.push({ member, behind });
      } else {
        refused.set(member, refusal);
        known.refuse(member.reservation, refusal);
      }
    }
    const decided = new Set(round);
    waiting = waiting.filter((member) => {
      const reason = known.of(member.reservation);
      if (reason !== undefined && !decided.has(member)) refused.set(member, reason);
      return reason === undefined && !decided.has(member);
    });
  }
  for (const member of waiting) {
    const { reservation } = member;
    const verdict = known.of(reservation) ?? (await refusalOf(tx, reservation, now)) ?? 'capacity';
    if (verdict === 'capacity') known.cover(reservation);
    else known.refuse(reservation, verdict);
    refused.set(member, verdict);
  }
  return { admitted, refused };
}

/** Why a hold would be refused now, if it would. The trial is rolled back, so nothing is held. */
async function refusalOf(tx: Tx, reservation: NewReservation, now: Date): Promise<CreditRefusal | undefined> {
  await tx.script('savepoint trial');
  const refusals = await reserveAll(tx, [reservation], now);
  await tx.script('rollback to savepoint trial; release savepoint trial');
  return refusals.get(reservation.id);
}

/** The first of each account that there is still a place for. */
function withinCapacity<Member extends Reserving>(
  members: readonly Member[],
  counts: ReadonlyMap<string, number>,
): readonly Member[] {
  const places = new Map(counts);
  return members.filter(({ reservation: { accountId } }) => {
    const count = places.get(accountId) ?? 0;
    places.set(accountId, count + 1);
    return count < OPEN_JOBS_PER_ACCOUNT_MAX;
  });
}

/**
 * The ledger's verdicts of this transaction. Credits only become fewer in it, so an amount that was not
 * covered is not covered later either, nor is a larger one; and once nothing more is held, one that was covered stays so.
 */
class Verdicts {
  readonly #refusals: { readonly reservation: NewReservation; readonly refusal: CreditRefusal }[] = [];
  readonly #covered: NewReservation[] = [];

  refuse(reservation: NewReservation, refusal: CreditRefusal): void {
    if (this.of(reservation) === undefined) this.#refusals.push({ reservation, refusal });
  }

  cover(reservation: NewReservation): void {
    if (this.of(reservation) === undefined) this.#covered.push(reservation);
  }

  of({ accountId, keyId, amount }: NewReservation): CreditRefusal | 'capacity' | undefined {
    const known = this.#refusals.find(
      ({ reservation, refusal: { reason } }) =>
        reservation.accountId === accountId &&
        reservation.amount <= amount &&
        (reason === 'balance' || reservation.keyId === keyId),
    );
    if (known !== undefined) return known.refusal;
    const isCovered = this.#covered.some(
      (reservation) =>
        reservation.accountId === accountId && reservation.keyId === keyId && reservation.amount >= amount,
    );
    return isCovered ? 'capacity' : undefined;
  }
}

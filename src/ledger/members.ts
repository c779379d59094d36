import { AMOUNT_MICRO_MAX, type MicroCredits } from '../credits.ts';
import type { EndAnswer, NewEnding, NewReservation, ReserveAnswer } from './store.ts';

/** Which grants the credits come from is not known yet when they come out of a purse. */
export type Verdict = { readonly state: 'admitted'; readonly split?: readonly SplitPart[] } | Refusal;

export type Admission = { readonly state: 'admitted'; readonly split: readonly SplitPart[] } | Refusal;

interface Refusal extends CreditRefusal {
  readonly state: 'refused';
}

/** Which of the two did not cover the amount: the account's balance, or the key's own limit. */
export interface CreditRefusal {
  readonly reason: 'balance' | 'key_limit';
  /** What there was of it when that was decided. A balance may be below zero. */
  readonly left: MicroCredits;
}

/** What was taken from one grant. */
interface SplitPart {
  readonly grantId: string;
  readonly amount: MicroCredits;
}

/** How a reservation has ended, whoever ended it: a late or repeated call learns of the first ending. */
export interface Ending {
  readonly state: 'settled' | 'refunded';
  readonly charged: MicroCredits;
}

/** Anything but an admission or a refusal is a bug of the caller, who has the account and the key in hand. */
export function toAdmission(answer: ReserveAnswer | undefined, reservationId: string): Admission {
  if (answer === undefined || typeof answer === 'string') throw new LedgerMisuse(reservationId, answer);
  if ('reason' in answer) return { state: 'refused', reason: answer.reason, left: BigInt(answer.left) };
  const [grantIds, parts] = answer;
  return {
    state: 'admitted',
    split: grantIds.map((grantId, place) => ({ grantId, amount: BigInt(parts[place] ?? 0) })),
  };
}

export function toEnding(answer: EndAnswer | undefined, reservationId: string): Ending {
  if (answer === undefined || typeof answer === 'string') throw new LedgerMisuse(reservationId, answer);
  return { state: answer[0], charged: BigInt(answer[1]) };
}

/** An account, key or reservation that is not there, or an id used twice for different things. */
export class LedgerMisuse extends Error {
  constructor(reservationId: string, answer = 'no answer') {
    super(`The ledger answered "${answer}" for reservation ${reservationId}.`);
  }
}

/** Refuses an amount that no price can give, before it meets others in a batch. */
export function checked(asked: NewReservation): NewReservation {
  checkAmount(asked.amount);
  return asked;
}

export function checkedEnding(ending: NewEnding): NewEnding {
  checkAmount(ending.actual ?? 0n);
  return ending;
}

function checkAmount(amount: MicroCredits): void {
  if (amount < 0n || amount > AMOUNT_MICRO_MAX) throw new RangeError(`${amount} micro-credits cannot be reserved.`);
}

/** The order in which a batch must stand. */
export function byAccount(one: { readonly accountId: string }, other: { readonly accountId: string }): number {
  return one.accountId < other.accountId ? -1 : one.accountId > other.accountId ? 1 : 0;
}

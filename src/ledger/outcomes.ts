import { AMOUNT_MICRO_MAX, type MicroCredits } from '../credits.ts';
import type { EndAnswer, ReserveAnswer } from './store.ts';

/** Whether a reservation was made. The split is not known yet of one that was drawn from a purse. */
export type Admission = { readonly state: 'admitted'; readonly split?: readonly SplitPart[] } | Refusal;

interface Refusal extends CreditRefusal {
  readonly state: 'refused';
}

/** Which of the two did not cover the amount: the account's balance, or the key's own limit. */
export interface CreditRefusal {
  readonly reason: 'balance' | 'key_limit';
  /** What there was of it when that was decided. A balance may be below zero. */
  readonly left: MicroCredits;
}

/** How much of the reservation comes from one grant. */
interface SplitPart {
  readonly grantId: string;
  readonly amount: MicroCredits;
}

/** How a reservation has ended, by whichever process: a late or repeated call gets the first ending. */
export interface Ending {
  readonly state: 'settled' | 'refunded';
  readonly charged: MicroCredits;
}

/** Anything but an admission or a refusal is a bug of the caller, which has the account and the key in hand. */
export function toAdmission(answer: ReserveAnswer | undefined, reservationId: string): Admission {
  if (answer === undefined || typeof answer === 'string') throw new LedgerMisuse(reservationId, answer);
  if ('reason' in answer) return { state: 'refused', reason: answer.reason, left: BigInt(answer.left) };
  const [grantIds, parts] = answer;
  return {
    state: 'admitted',
    split: grantIds.map((grantId, index) => ({ grantId, amount: BigInt(parts[index] ?? 0) })),
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

/** Refuses an amount that no price can give, before it meets others in a group commit. */
export function checkAmount(amount: MicroCredits): void {
  if (amount < 0n || amount > AMOUNT_MICRO_MAX) throw new RangeError(`${amount} micro-credits cannot be reserved.`);
}

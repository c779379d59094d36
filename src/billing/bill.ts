import { randomUUIDv7 } from 'node:crypto';
import { creditsToNumber, type MicroCredits } from '../credits.ts';
import { DatabaseUnavailable } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { isIdOf } from '../ids.ts';
import type { CallLedger, CreditRefusal, NewReservation } from '../ledger/index.ts';
import { charge, costOf, type FrozenPrice, type Units } from '../pricing/index.ts';
import type { RequestTrace } from '../request-log/index.ts';
import type { BillingDeps } from './deps.ts';
import type { Quote } from './quote.ts';

/** What a call is booked under. */
export interface BillOrder {
  readonly accountId: string;
  readonly keyId: string | undefined;
  /** Whether the key may spend no more than so much by itself. */
  readonly hasKeyLimit: boolean;
  readonly requestId: string;
  readonly model: string;
  readonly endpoint: string;
  /** What decides how much is held, in a sentence for a caller who has too little. */
  readonly decidedBy?: string;
  /** Told of the reservation and of what the call cost the operator. */
  readonly trace?: RequestTrace;
}

/**
 * Holds a synchronous call's credits, which are set aside when this resolves; the hold ends with this process if not before.
 * Throws `insufficient_credits`, and then nothing is held; or `precheck_failed`, and then what a lost answer may have
 * held goes back when its lease runs out.
 */
export async function openBill(deps: BillingDeps, order: BillOrder, quoted: Quote): Promise<Bill> {
  const { hasKeyLimit, decidedBy, trace, ...booked } = order;
  const reservation: NewReservation = {
    ...booked,
    id: randomUUIDv7(),
    jobId: undefined,
    amount: quoted.amount,
    price: quoted.priceText,
  };
  const begunMs = performance.now();
  const span = trace?.span?.child('hold', 'internal');
  const admission = await orPrecheckFailed(() => deps.callLedger.reserve(reservation, hasKeyLimit)).finally(() =>
    span?.end(),
  );
  if (trace !== undefined) trace.holdMs = performance.now() - begunMs;
  if (admission.state === 'refused') throw insufficientCredits(reservation, admission, decidedBy);
  return new Bill(deps, reservation, quoted.price, trace);
}

/** What a caller is told about the ledger's refusal of so much. */
export function insufficientCredits(
  { amount, keyId }: Pick<NewReservation, 'amount' | 'keyId'>,
  { reason, left }: CreditRefusal,
  decidedBy = '',
): ApiError {
  const spender = keyId !== undefined && isIdOf('oag', keyId) ? 'app' : 'key';
  const limit = reason === 'balance' ? 'The balance' : `The credit limit of this ${spender}`;
  const amounts = `${creditsToNumber(amount)} credits are needed and ${creditsToNumber(left)} are`;
  const place = reason === 'balance' ? 'available' : 'left of the limit';
  const message = `${limit} does not cover this request: ${amounts} ${place}.${decidedBy && ` ${decidedBy}`}`;
  return new ApiError('insufficient_credits', { message });
}

/** One call's hold until it is settled or refunded, which happens once: whatever comes second changes nothing. */
export class Bill {
  readonly #callLedger: CallLedger;
  readonly #reservation: NewReservation;
  readonly #price: FrozenPrice;
  readonly #trace: RequestTrace | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(deps: BillingDeps, reservation: NewReservation, price: FrozenPrice, trace?: RequestTrace) {
    this.#callLedger = deps.callLedger;
    this.#reservation = reservation;
    this.#price = price;
    this.#trace = trace;
    if (trace === undefined) return;
    trace.reservationId = reservation.id;
    trace.billed = this.#ended.promise;
  }

  get reservationId(): string {
    return this.#reservation.id;
  }

  /** Records what is owed already, so that it is charged even if this process dies now. */
  async meter(units: Units): Promise<void> {
    await this.#callLedger.recordKnown(this.#reservation, charge(this.#price, units));
  }

  /**
   * Takes what these units cost at the frozen price and gives the rest back. Returns what is charged. In an outage of the
   * database the ending stays pending and the answer is given all the same: it may have been committed, and a caller who is
   * refused now would ask and pay again.
   */
  async settle(units: Units): Promise<MicroCredits> {
    const actual = charge(this.#price, units);
    const begunMs = performance.now();
    const span = this.#trace?.span?.child('settle', 'internal');
    try {
      const ending = await this.#callLedger.settle(this.#reservation, actual, JSON.stringify(units));
      this.#noteCost(units);
      span?.set({ 'gen_ai.usage.input_tokens': units.inputTokens, 'gen_ai.usage.output_tokens': units.outputTokens });
      return ending.charged;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      this.#noteCost(units);
      return actual;
    } finally {
      span?.end();
      if (this.#trace !== undefined) this.#trace.settleMs = performance.now() - begunMs;
      this.#ended.resolve();
    }
  }

  async refund(): Promise<void> {
    try {
      await orPrecheckFailed(() => this.#callLedger.refund(this.#reservation));
    } finally {
      this.#ended.resolve();
    }
  }

  #noteCost(units: Units): void {
    const pricing = this.#trace?.costPricing;
    if (this.#trace !== undefined && pricing !== undefined) this.#trace.cost = costOf(pricing, this.#price, units);
  }
}

/** Turns an unavailable database into `precheck_failed`: without the ledger nothing may be promised to a caller. */
export async function orPrecheckFailed<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw new ApiError('precheck_failed', { cause: error });
    throw error;
  }
}

/** Whether it is certain that nothing was admitted: after `precheck_failed` the transaction may have committed. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code !== 'precheck_failed';
}

import { type Actor, recordChange } from '../audit/index.ts';
import { creditsToNumber, type MicroCredits } from '../credits.ts';
import { isCheckViolation } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { type Grant, grant } from '../ledger/index.ts';
import type { BillingParts } from './parts.ts';

export interface GrantOrder {
  readonly accountId: string;
  readonly amount: MicroCredits;
  readonly source: string;
  /** Such as a payment's number: the same one is never granted twice. */
  readonly reference: string | undefined;
  readonly expiresAt: Date | undefined;
}

/**
 * Gives an account credits. Throws `account_not_found`, `duplicate_reference`, or `invalid_parameter` for more than an
 * account can hold; then nothing has changed.
 */
export async function grantCredits(parts: BillingParts, by: Actor, order: GrantOrder): Promise<Grant> {
  const now = parts.clock.now();
  return refusingTooMuch(() => grantIn(parts, by, order, now));
}

function grantIn(parts: BillingParts, by: Actor, order: GrantOrder, now: Date): Promise<Grant> {
  return parts.db.transaction(async (tx) => {
    const granted = await grant(tx, { ...order, now });
    const detail = {
      grant: granted.id,
      credits: creditsToNumber(order.amount),
      source: order.source,
      reference: order.reference ?? null,
    };
    await recordChange(tx, by, { at: now, action: 'credits.grant', target: order.accountId, detail });
    return granted;
  });
}

async function refusingTooMuch<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isCheckViolation(error, 'balances_granted_max')) throw error;
    const message = 'An account cannot be given more than 9 000 000 000 credits in all.';
    throw new ApiError('invalid_parameter', { message, cause: error });
  }
}

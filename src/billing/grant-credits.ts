import { type Actor, recordChange } from '../audit/index.ts';
import { unixSeconds } from '../clock.ts';
import { creditsToNumber, type MicroCredits } from '../credits.ts';
import { isCheckViolation } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { correctGrant, type Grant, type GrantChange, grant } from '../ledger/index.ts';
import type { BillingDeps } from './deps.ts';

interface GrantOrder {
  readonly accountId: string;
  /** Below zero takes unspent credits back. */
  readonly amount: MicroCredits;
  readonly source: string;
  /** Such as a payment's number: the same one is never granted twice. */
  readonly reference: string | undefined;
  readonly expiresAt: Date | undefined;
  /** Why, for the audit. */
  readonly reason: string | undefined;
}

/** What an operator does to an account's credits, each with its row in the audit. */
export const grants = { give, correct } as const;

/**
 * Gives an account credits, or takes some back. Throws `account_not_found`, `duplicate_reference`, `credits_not_available`,
 * or `invalid_parameter` for more than an account can hold; then nothing has changed.
 */
async function give(deps: BillingDeps, by: Actor, order: GrantOrder): Promise<Grant> {
  const now = deps.clock.now();
  return refusingTooMuch(() => grantIn(deps, by, order, now));
}

function grantIn(deps: BillingDeps, by: Actor, order: GrantOrder, now: Date): Promise<Grant> {
  return deps.db.transaction(async (tx) => {
    const { reason, ...booking } = order;
    const granted = await grant(tx, { ...booking, now });
    const detail = {
      grant: granted.id,
      credits: creditsToNumber(order.amount),
      source: order.source,
      reference: order.reference ?? null,
      ...(reason === undefined ? {} : { reason }),
    };
    const action = order.amount > 0n ? 'credits.grant' : 'credits.revoke';
    await recordChange(tx, by, { at: now, action, target: order.accountId, detail });
    return granted;
  });
}

/** Corrects what a grant says about itself, and keeps what it said before in the audit. As `correctGrant` otherwise. */
function correct(
  deps: BillingDeps,
  by: Actor,
  id: string,
  change: GrantChange & { readonly reason?: string | undefined },
): Promise<Grant> {
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    const { reason, ...corrected } = change;
    const { before, after } = await correctGrant(tx, id, corrected, now);
    const detail = { account: after.accountId, before: described(before), after: described(after) };
    const withReason = { ...detail, ...(reason === undefined ? {} : { reason }) };
    await recordChange(tx, by, { at: now, action: 'credits.correct', target: id, detail: withReason });
    return after;
  });
}

function described({ source, reference, expiresAt }: Grant): JsonObject {
  const expires = expiresAt === undefined ? null : unixSeconds(expiresAt);
  return { source, reference: reference ?? null, expires_at: expires };
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

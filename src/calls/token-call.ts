import type { Caller } from '../accounts/index.ts';
import { type Bill, openBill, quote } from '../billing/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { type Candidate, candidatesFor, modelFor } from '../routing/index.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { type RequestedTokens, type TokenOrder, tokenOrder } from './token-order.ts';

/** A call that is priced by tokens. */
export interface TokenCall {
  readonly endpoint: 'chat' | 'native';
  /** The public name that the caller asked for. */
  readonly model: string;
  readonly isStreamed: boolean;
  readonly isAble: (candidate: Candidate) => boolean;
  readonly requested: () => RequestedTokens;
  /** The fields that decide how much is held, for a caller who has too little: `The prompt and "max_tokens"`. */
  readonly decidedBy: string;
}

/** The candidates of a call and what it may come to; nothing is held yet. */
export interface FoundCall {
  readonly model: ListedModel;
  readonly candidates: readonly Candidate[];
  readonly order: TokenOrder;
}

export function findCall(deps: CallDeps, caller: Caller, call: TokenCall): FoundCall {
  const model = modelFor(deps, caller, call.model, call.endpoint);
  const candidates = candidatesFor(deps, caller, model, call.isAble);
  const order = tokenOrder(call.requested(), model);
  const answer = call.isStreamed ? 'stream' : 'whole';
  const routed = { units: order.units, selectors: {}, answer } as const;
  return { model, candidates: deps.health.preferred(model, candidates, routed), order };
}

/** Holds what the call may come to. Throws as `openBill` does. */
export function holdTokens(
  deps: CallDeps,
  caller: Caller,
  { endpoint, decidedBy }: TokenCall,
  { model, order }: FoundCall,
  { requestId, trace }: CallContext,
): Promise<Bill> {
  const { accountId, keyId, hasKeyLimit } = caller;
  const booked = {
    accountId,
    keyId,
    hasKeyLimit,
    requestId,
    model: model.id,
    endpoint,
    decidedBy: `${decidedBy} decide it, or where that is not given the model's max_output_tokens: fewer need less.`,
    trace,
  };
  return openBill(deps, booked, quote(model.pricing, {}, order.units));
}

/**
 * Price and ledger joined: what a request will cost, holding that much for it, and taking what it did cost.
 * Hides how a price is frozen, how units are estimated, and what the ledger's refusals mean to a caller.
 */
export { Bill, insufficientCredits, isRefusal, openBill, orPrecheckFailed } from './bill.ts';
export type { BillingDeps } from './deps.ts';
export { grants } from './grant-credits.ts';
export { boundLength, type LengthOrder, lengthExcess, lengthOrder } from './length.ts';
export {
  type Estimate,
  type Measures,
  measureMedia,
  measureTokens,
  measureTranscription,
  outputTokensPerAnswer,
  type PricedModel,
  type TokenRequest,
} from './measure.ts';
export { quote } from './quote.ts';
export { routeCost } from './route-cost.ts';

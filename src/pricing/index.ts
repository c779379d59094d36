/**
 * What things cost: the `pricing` object of a model, and pure arithmetic from it to exact micro-credits.
 * Hides decimals, tiers and ratios; the one rounding is at the end of `charge`.
 */
export { costIssues, costOf, costPricing, costSchema } from './cost.ts';
export { type ChargeFactors, chargeFactors, frozenFactors } from './factors.ts';
export {
  charge,
  type FrozenPrice,
  freezePrice,
  type Selectors,
  type Units,
} from './price.ts';
export { type Pricing, type PricingMode, pricingFields, pricingSchema, pricingWarnings } from './pricing.ts';
export { isWriteDearer } from './token-rates.ts';
export { unitOf } from './unit.ts';

import type { MicroCredits } from '../credits.ts';
import {
  type ChosenRatio,
  charge,
  countOf,
  freezePrice,
  onceCredits,
  promptTokensOf,
  type Selectors,
  type UnitRate,
  type Units,
  unitRates,
} from './price.ts';
import type { Pricing, PricingMode } from './pricing.ts';

/** Why a charge is what it is: (sum of count / per × rate) × every ratio + once = total. Rates are as written. */
export interface ChargeFactors {
  readonly mode: PricingMode;
  /** Credits charged once, which no ratio multiplies. */
  readonly once: number;
  readonly units: readonly (UnitRate & { readonly count: number })[];
  readonly ratios: readonly ChosenRatio[];
  readonly total: MicroCredits;
}

/** Throws as `charge` does. */
export function chargeFactors(pricing: Pricing, selectors: Selectors, units: Units): ChargeFactors {
  const price = freezePrice(pricing, selectors);
  const total = charge(price, units);
  const promptTokens = promptTokensOf(units);
  const rung = pricing.token_tiers?.findLast(({ min_prompt_tokens }) => promptTokens > min_prompt_tokens);
  const counted = unitRates(pricing, rung).map((rate) => ({ ...rate, count: countOf(units, rate.unit) }));
  return {
    mode: pricing.mode,
    once: onceCredits(pricing),
    units: counted.filter(({ count }) => count > 0),
    ratios: price.ratios,
    total,
  };
}

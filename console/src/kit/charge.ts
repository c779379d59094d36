import { creditsToNumber } from '../../../src/credits.ts';
import { chargeFactors } from '../../../src/pricing/factors.ts';
import type { Selectors, Units } from '../../../src/pricing/price.ts';
import type { Pricing as GatewayPricing } from '../../../src/pricing/pricing.ts';
import type { Estimate, PublicPricing } from '../api/schema.ts';

/** The units that a price counts, and what of a request selects ratios. */
export interface Order {
  readonly units: Units;
  readonly choices?: Selectors;
}

/** A charge and why it is what it is. */
export type Calculation = Pick<Estimate, 'credits' | 'factors'>;

/** The gateway's own arithmetic, from its own module: what the calculator shows is what is charged. */
export function calculate(pricing: PublicPricing, { units, choices = {} }: Order): Calculation {
  // The list's type is made from the gateway's, and differs in being read-only.
  const {
    total,
    mode,
    once,
    units: counted,
    ratios,
  } = chargeFactors(pricing as unknown as GatewayPricing, choices, units);
  return {
    credits: creditsToNumber(total),
    factors: { mode, once, units: counted.map((unit) => ({ ...unit })), ratios },
  };
}

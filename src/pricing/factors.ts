import { type Decimal, MICRO_PER_CREDIT, type MicroCredits } from '../credits.ts';
import {
  type ChosenRatio,
  charge,
  countOf,
  type FrozenPrice,
  freezePrice,
  onceCredits,
  product,
  promptTokensOf,
  ratesFor,
  type Selectors,
  type Unit,
  type UnitRate,
  type Units,
  unitRates,
  withFoldedWrites,
} from './price.ts';
import type { Pricing, PricingMode } from './pricing.ts';
import { rungFor } from './token-rates.ts';

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
  const rates = unitRates(pricing, rungFor(pricing, promptTokens));
  const folded = withFoldedWrites(units, rates);
  const counted = rates.map((rate) => ({ ...rate, count: countOf(folded, rate.unit) }));
  return {
    mode: pricing.mode,
    once: onceCredits(pricing),
    units: counted.filter(({ count }) => count > 0),
    ratios: price.ratios,
    total,
  };
}

/**
 * The same from the price that a reservation has frozen, for a receipt. The rates as written are divided out of the figures
 * again, which is exact; behind a ratio of 0 they are lost, and 0 stands for them. Throws as `charge` does.
 */
export function frozenFactors(price: FrozenPrice, units: Units): ChargeFactors {
  const total = charge(price, units);
  const ratio = product(price.ratios.map((chosen) => chosen.ratio));
  const rates = ratesFor(price, units);
  const folded = withFoldedWrites(units, rates);
  const counted = rates.map(({ unit, figure }) => ({
    unit,
    rate: rateWritten(BigInt(figure) * BigInt(UNITS_PER_RATE[unit]), price, ratio),
    per: UNITS_PER_RATE[unit],
    count: countOf(folded, unit),
  }));
  return {
    mode: price.mode,
    once: rateWritten(BigInt(price.once), price, ONE),
    units: counted.filter(({ count }) => count > 0),
    ratios: price.ratios,
    total,
  };
}

const ONE: Decimal = { digits: 1n, scale: 0 };

/** For how many of a unit a rate is written. */
const UNITS_PER_RATE: Readonly<Record<Unit, 1 | 1000>> = {
  images: 1,
  requests: 1,
  milliseconds: 1000,
  characters: 1000,
  inputTokens: 1000,
  cachedTokens: 1000,
  cacheWriteTokens: 1000,
  outputTokens: 1000,
  reasoningTokens: 1000,
};

const RATE_DECIMALS = 9;

/** `figure` is micro-credits times the divisor and the ratio. */
function rateWritten(figure: bigint, { divisor }: FrozenPrice, ratio: Decimal): number {
  if (ratio.digits === 0n) return 0;
  const dividend = figure * 10n ** BigInt(ratio.scale + RATE_DECIMALS);
  const digits = dividend / (BigInt(divisor) * MICRO_PER_CREDIT * ratio.digits);
  return Number(`${digits}e-${RATE_DECIMALS}`);
}

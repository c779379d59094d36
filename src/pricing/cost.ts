import type { z } from 'zod';
import type { MicroCredits } from '../credits.ts';
import { charge, type FrozenPrice, freezePrice, type Selectors, type Units } from './price.ts';
import { creditsSchema, type Pricing, pricingSchema } from './pricing.ts';

/** What an upstream takes for what a route sends it, in credits: the rates of `pricing.credits`. */
export const costSchema = creditsSchema;
export type CostRates = z.infer<typeof costSchema>;

/** A route's cost as a price of its own: with the model's mode and ratios, and without its rungs. */
export function costPricing({ mode, currency, ...pricing }: Pricing, cost: CostRates): Pricing {
  const { size_ratio, quality_ratio, resolution_ratio, flag_ratio } = pricing;
  return { mode, currency, credits: cost, size_ratio, quality_ratio, resolution_ratio, flag_ratio };
}

/** What keeps rates from being a cost of this model, each with the name of its rate. */
export function costIssues(
  pricing: Pricing,
  cost: CostRates,
): readonly { rate: string | undefined; message: string }[] {
  const { error } = pricingSchema.safeParse(costPricing(pricing, cost));
  const issues = error?.issues ?? [];
  return issues.map(({ path, message }) => ({ rate: path[1] === undefined ? undefined : String(path[1]), message }));
}

/** What these units cost the operator, with the ratios that the sold price had chosen. */
export function costOf(pricing: Pricing, sold: Pick<FrozenPrice, 'ratios'>, units: Units): MicroCredits {
  return charge(freezePrice(pricing, selectorsOf(sold)), units);
}

function selectorsOf({ ratios }: Pick<FrozenPrice, 'ratios'>): Selectors {
  const keyIn = (map: string) => ratios.find((chosen) => chosen.map === map)?.key;
  const isFlagged = (flag: string) => ratios.some(({ map, key }) => map === 'flag_ratio' && key === flag);
  return {
    size: keyIn('size_ratio'),
    quality: keyIn('quality_ratio'),
    resolution: keyIn('resolution_ratio'),
    generateAudio: isFlagged('generate_audio'),
    referenceVideo: isFlagged('reference_video'),
  };
}

import assert from 'node:assert/strict';
import { type Decimal, decimalFromNumber, type MicroCredits } from '../credits.ts';
import type { Pricing, PricingMode, TokenRung } from './pricing.ts';
import { hasCacheWriteRate, needed, type TokenRate, tokenRates } from './token-rates.ts';

/** The most of each unit that one charge may count. With the schema's check of a price, no charge can overflow. */
export const UNIT_MAX = {
  images: 1000,
  requests: 1000,
  milliseconds: 24 * 60 * 60 * 1000,
  characters: 10_000_000,
  inputTokens: 100_000_000,
  cachedTokens: 100_000_000,
  cacheWriteTokens: 100_000_000,
  outputTokens: 100_000_000,
  reasoningTokens: 100_000_000,
} as const;

export type Unit = keyof typeof UNIT_MAX;

/**
 * The measured or asked-for amounts that a price multiplies, non-negative integers. Absent means zero, except that
 * `requests` absent means one. Tokens are disjoint: `inputTokens` is without `cachedTokens` and `cacheWriteTokens`,
 * `outputTokens` without `reasoningTokens`.
 */
export type Units = { readonly [unit in Unit]?: number | undefined };

/** What of the request selects ratios. */
export interface Selectors {
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly resolution?: string | undefined;
  readonly generateAudio?: boolean | undefined;
  readonly referenceVideo?: boolean | undefined;
}

/** Credits for `per` units, as the operator wrote them. */
export interface UnitRate {
  readonly unit: Unit;
  readonly rate: number;
  readonly per: 1 | 1000;
}

export interface ChosenRatio {
  readonly map: 'size_ratio' | 'quality_ratio' | 'resolution_ratio' | 'flag_ratio';
  readonly key: string;
  readonly ratio: number;
}

/**
 * A price with its ratios applied, as plain JSON, so that a reservation can keep it and a later change of the price
 * cannot touch it. Every figure is an integer in decimal: micro-credits for one unit, times `divisor`.
 */
export interface FrozenPrice {
  readonly mode: PricingMode;
  /** Already inside the figures; kept to explain a charge. */
  readonly ratios: readonly ChosenRatio[];
  readonly divisor: string;
  /** Charged once, whatever the units. */
  readonly once: string;
  readonly rates: readonly FrozenRate[];
  /** Each replaces `rates` for prompts longer than its threshold; thresholds rise. */
  readonly tiers: readonly FrozenTier[];
}

interface FrozenRate {
  readonly unit: Unit;
  readonly figure: string;
}

interface FrozenTier {
  readonly minPromptTokens: number;
  readonly rates: readonly FrozenRate[];
}

/** Some microseconds of work; where no request selects a ratio, one frozen price serves them all. */
export function freezePrice(pricing: Pricing, selectors: Selectors): FrozenPrice {
  const ratios = chooseRatios(pricing, selectors);
  const ratio = product(ratios.map((chosen) => chosen.ratio));
  const once = timesMicro(exact(onceCredits(pricing)));
  const rates = exactRates(unitRates(pricing, undefined), ratio);
  const tiers = (pricing.token_tiers ?? []).map((rung) => ({
    minPromptTokens: rung.min_prompt_tokens,
    rates: exactRates(unitRates(pricing, rung), ratio),
  }));
  const all = [rates, ...tiers.map((tier) => tier.rates)].flat();
  const scale = Math.max(0, once.scale, ...all.map((rate) => rate.micro.scale));
  return {
    mode: pricing.mode,
    ratios,
    divisor: String(10n ** BigInt(scale)),
    once: figureAt(once, scale),
    rates: figuresAt(rates, scale),
    tiers: tiers.map((tier) => ({ ...tier, rates: figuresAt(tier.rates, scale) })),
  };
}

/**
 * The charge for these units: summed exactly, then rounded half up once. Throws RangeError for a unit that is
 * negative, not whole, or above UNIT_MAX.
 */
export function charge(price: FrozenPrice, units: Units): MicroCredits {
  checkUnits(units);
  const divisor = BigInt(price.divisor);
  const rates = ratesFor(price, units);
  const counted = withFoldedWrites(units, rates);
  let sum = BigInt(price.once);
  for (const { unit, figure } of rates) {
    const count = countOf(counted, unit);
    if (count > 0) sum += BigInt(figure) * BigInt(count);
  }
  return (sum + divisor / 2n) / divisor;
}

/**
 * What is written to a cache costs what plain input costs where the price has no rate for it; prices that were frozen
 * before there was one are such prices.
 */
export function withFoldedWrites(units: Units, rates: readonly { readonly unit: Unit }[]): Units {
  const { inputTokens = 0, cacheWriteTokens = 0 } = units;
  if (cacheWriteTokens === 0 || rates.some(({ unit }) => unit === 'cacheWriteTokens')) return units;
  return { ...units, inputTokens: inputTokens + cacheWriteTokens, cacheWriteTokens: 0 };
}

/** Those of the highest rung that the prompt has passed. */
export function ratesFor(price: FrozenPrice, units: Units): readonly FrozenRate[] {
  const promptTokens = promptTokensOf(units);
  const tier = price.tiers.findLast(({ minPromptTokens }) => promptTokens > minPromptTokens);
  return (tier ?? price).rates;
}

/** What the price comes to with every unit at its bound and the largest ratios. */
export function largestCharge(pricing: Pricing): MicroCredits {
  const selectors: Selectors = {
    size: keyOfLargest(pricing.size_ratio),
    quality: keyOfLargest(pricing.quality_ratio),
    resolution: keyOfLargest(pricing.resolution_ratio),
    generateAudio: (pricing.flag_ratio?.generate_audio ?? 1) > 1,
    referenceVideo: (pricing.flag_ratio?.reference_video ?? 1) > 1,
  };
  const price = freezePrice(pricing, selectors);
  // The dearest rung need not be the highest. One that no prompt can reach does not count.
  const reachable = price.tiers.filter(({ minPromptTokens }) => minPromptTokens < PROMPT_TOKENS_MAX);
  const most = hasCacheWriteRate(pricing) ? UNIT_MAX : { ...UNIT_MAX, cacheWriteTokens: 0 };
  const charges = [price, ...reachable].map(({ rates }) => charge({ ...price, rates, tiers: [] }, most));
  return charges.reduce((largest, one) => (one > largest ? one : largest));
}

const PROMPT_TOKENS_MAX = UNIT_MAX.inputTokens + UNIT_MAX.cachedTokens;

// A request that selects no key pays the plain rate, so only a ratio above 1 can be the largest.
function keyOfLargest(ratios: Readonly<Record<string, number>> = {}): string | undefined {
  const above = Object.entries(ratios).filter(([, ratio]) => ratio > 1);
  return above.sort(([, left], [, right]) => right - left)[0]?.[0];
}

export function unitRates(pricing: Pricing, rung: TokenRung | undefined): readonly UnitRate[] {
  const { mode, credits } = pricing;
  switch (mode) {
    case 'per_image':
      return [{ unit: 'images', rate: needed(credits.base), per: 1 }];
    case 'per_request':
      return [{ unit: 'requests', rate: needed(credits.base), per: 1 }];
    case 'per_k_char':
      return [{ unit: 'characters', rate: needed(credits.base), per: 1000 }];
    case 'per_second':
    case 'per_audio_second':
      return [{ unit: 'milliseconds', rate: needed(credits.per_second), per: 1000 }];
    case 'per_token':
      return tokenUnitRates(tokenRates(pricing, rung), hasCacheWriteRate(pricing));
  }
}

function tokenUnitRates(rates: Record<TokenRate, number>, hasWrites: boolean): readonly UnitRate[] {
  return [
    { unit: 'inputTokens', rate: rates.input_per_k, per: 1000 },
    { unit: 'cachedTokens', rate: rates.cached_per_k, per: 1000 },
    ...(hasWrites ? [{ unit: 'cacheWriteTokens', rate: rates.cache_write_per_k, per: 1000 } as const] : []),
    { unit: 'outputTokens', rate: rates.output_per_k, per: 1000 },
    { unit: 'reasoningTokens', rate: rates.reasoning_per_k, per: 1000 },
  ];
}

export function onceCredits({ mode, credits }: Pricing): number {
  return mode === 'per_second' || mode === 'per_audio_second' ? (credits.base ?? 0) : 0;
}

function chooseRatios(pricing: Pricing, selectors: Selectors): readonly ChosenRatio[] {
  const keys = [
    ['size_ratio', selectors.size],
    ['quality_ratio', selectors.quality],
    ['resolution_ratio', selectors.resolution],
    ['flag_ratio', selectors.generateAudio ? 'generate_audio' : undefined],
    ['flag_ratio', selectors.referenceVideo ? 'reference_video' : undefined],
  ] as const;
  return keys.flatMap(([map, key]) => {
    const ratio = ratioAt(pricing[map], key);
    return key === undefined || ratio === undefined ? [] : [{ map, key, ratio }];
  });
}

// A caller may well ask for the size "constructor"; only the operator's own keys count.
function ratioAt(ratios: Readonly<Record<string, number | undefined>> = {}, key = ''): number | undefined {
  return Object.hasOwn(ratios, key) ? ratios[key] : undefined;
}

function checkUnits(units: Units): void {
  for (const unit of UNIT_NAMES) {
    const count = units[unit];
    if (count === undefined) continue;
    if (!Number.isInteger(count) || count < 0 || count > UNIT_MAX[unit]) {
      throw new RangeError(`${unit} must be a whole number from 0 to ${UNIT_MAX[unit]}, not ${count}`);
    }
  }
}

const UNIT_NAMES = [
  'images',
  'requests',
  'milliseconds',
  'characters',
  'inputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
] as const satisfies readonly Unit[];

export function countOf(units: Units, unit: Unit): number {
  return units[unit] ?? (unit === 'requests' ? 1 : 0);
}

export function promptTokensOf(units: Units): number {
  return (units.inputTokens ?? 0) + (units.cachedTokens ?? 0) + (units.cacheWriteTokens ?? 0);
}

interface ExactRate {
  readonly unit: Unit;
  /** Micro-credits for one unit; its scale may be below zero. */
  readonly micro: Decimal;
}

function exactRates(rates: readonly UnitRate[], ratio: Decimal): readonly ExactRate[] {
  return rates.map(({ unit, rate, per }) => {
    const { digits, scale } = timesMicro(times(exact(rate), ratio));
    return { unit, micro: { digits, scale: per === 1000 ? scale + 3 : scale } };
  });
}

function figuresAt(rates: readonly ExactRate[], scale: number): readonly FrozenRate[] {
  return rates.map(({ unit, micro }) => ({ unit, figure: figureAt(micro, scale) }));
}

function figureAt(decimal: Decimal, scale: number): string {
  return String(decimal.digits * 10n ** BigInt(scale - decimal.scale));
}

function exact(value: number): Decimal {
  const decimal = decimalFromNumber(value, 9);
  assert(decimal !== undefined, 'the schema lets no rate or ratio through with more than nine decimals');
  return decimal;
}

export function product(values: readonly number[]): Decimal {
  return values.map(exact).reduce(times, { digits: 1n, scale: 0 });
}

function times(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, scale: left.scale + right.scale };
}

function timesMicro({ digits, scale }: Decimal): Decimal {
  return { digits, scale: scale - 6 };
}

import type { Pricing } from '../../src/pricing/index.ts';

/** What the simulator sells. */
export type Sold = 'image' | 'chat';

export interface Counts {
  readonly images?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** A price twice: as the gateway reads it, and as the model counts with it. */
export interface Tariff {
  readonly pricing: Pricing;
  /** Thousand-millionths of a credit for a thousand units. */
  readonly figures: readonly (readonly [keyof Counts, bigint])[];
}

/** `rates` are thousand-millionths of a credit: for one image, or for a thousand tokens in and out. */
export function tariffOf(sold: Sold, [first, second]: readonly [number, number]): Tariff {
  const credits = (rate: number) => rate / 1_000_000_000;
  if (sold === 'image') {
    return {
      pricing: { mode: 'per_image', currency: 'usd', credits: { base: credits(first) } },
      figures: [['images', BigInt(first) * 1000n]],
    };
  }
  return {
    pricing: {
      mode: 'per_token',
      currency: 'usd',
      credits: { input_per_k: credits(first), output_per_k: credits(second) },
    },
    figures: [
      ['inputTokens', BigInt(first)],
      ['outputTokens', BigInt(second)],
    ],
  };
}

/** Micro-credits, by other arithmetic than the gateway's: one sum, rounded half up once. */
export function cost(tariff: Tariff, counts: Counts): bigint {
  const sum = tariff.figures.reduce((total, [unit, figure]) => total + figure * BigInt(counts[unit] ?? 0), 0n);
  return (sum + 500_000n) / 1_000_000n;
}

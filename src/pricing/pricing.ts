import { z } from 'zod';
import { AMOUNT_MICRO_MAX, decimalFromNumber, MICRO_PER_CREDIT } from '../credits.ts';
import { largestCharge } from './price.ts';
import { hasCacheWriteRate, type TokenRate, tokenRates } from './token-rates.ts';

/** Every charge looks through the rungs, so their number is bounded. */
const TOKEN_RUNGS_MAX = 16;

const PRICING_MODES = [
  'per_image',
  'per_request',
  'per_second',
  'per_token',
  'per_k_char',
  'per_audio_second',
] as const;
export type PricingMode = (typeof PRICING_MODES)[number];

const rate = decimal(9);
const ratio = decimal(6);
const ratioMap = z.record(z.string().min(1), ratio).optional();

const tokenRateFields = {
  input_per_k: rate.optional(),
  output_per_k: rate.optional(),
  cached_per_k: rate.optional(),
  cache_write_per_k: rate.optional(),
  reasoning_per_k: rate.optional(),
};

export const creditsSchema = strict({ base: rate.optional(), per_second: rate.optional(), ...tokenRateFields });

const rungSchema = strict({ min_prompt_tokens: z.int().positive({ abort: true }), ...tokenRateFields });
export type TokenRung = z.infer<typeof rungSchema>;

const fields = {
  mode: z.enum(PRICING_MODES),
  currency: z.literal('usd').default('usd'),
  credits: creditsSchema,
  size_ratio: ratioMap,
  quality_ratio: ratioMap,
  resolution_ratio: ratioMap,
  flag_ratio: strict({ generate_audio: ratio.optional(), reference_video: ratio.optional() }).optional(),
  token_tiers: z.array(rungSchema).max(TOKEN_RUNGS_MAX).optional(),
};

/** Reference prices in USD are shown to callers and never charged from. */
export type Pricing = z.infer<z.ZodObject<typeof fields>> & { [reference: `${string}_usd`]: number };

const KEYS_EXPECTED = `expected ${Object.keys(fields).join(', ')}, or a number of at least 0 in a key ending in _usd`;
const referencePrice = z.number({ error: KEYS_EXPECTED }).nonnegative({ error: KEYS_EXPECTED });

/** `pricing` as callers read it on the Model card. */
export const pricingFields = z.object(fields).catchall(referencePrice);

/** The same as an operator writes it, held to its own rules. */
export const pricingSchema: z.ZodType<Pricing> = pricingFields.superRefine((pricing, context) => {
  const issues = [...keyIssues(pricing), ...rateIssues(pricing), ...tierIssues(pricing)];
  for (const issue of issues.length === 0 ? boundIssues(pricing) : issues) {
    context.addIssue({ code: 'custom', ...issue });
  }
});

type RateName = keyof Pricing['credits'];

interface Issue {
  readonly path: (string | number)[];
  readonly message: string;
}

const RATES_OF_MODE: Readonly<Record<PricingMode, { needs: readonly RateName[]; takes: readonly RateName[] }>> = {
  per_image: { needs: ['base'], takes: [] },
  per_request: { needs: ['base'], takes: [] },
  per_k_char: { needs: ['base'], takes: [] },
  per_second: { needs: ['per_second'], takes: ['base'] },
  per_audio_second: { needs: ['per_second'], takes: ['base'] },
  per_token: {
    needs: ['input_per_k', 'output_per_k'],
    takes: ['cached_per_k', 'cache_write_per_k', 'reasoning_per_k'],
  },
};

const RATE_NAMES = creditsSchema.keyof().options;

function keyIssues(pricing: Pricing): readonly Issue[] {
  const unknown = Object.keys(pricing).filter((key) => !Object.hasOwn(fields, key) && !key.endsWith('_usd'));
  return unknown.map((key) => ({ path: [key], message: KEYS_EXPECTED }));
}

function rateIssues({ mode, credits }: Pricing): readonly Issue[] {
  const { needs, takes } = RATES_OF_MODE[mode];
  const missing = needs.filter((name) => credits[name] === undefined);
  const unused = RATE_NAMES.filter(
    (name) => credits[name] !== undefined && !needs.includes(name) && !takes.includes(name),
  );
  return [
    ...missing.map((name) => ({ path: ['credits', name], message: `expected a rate: ${mode} is charged from it` })),
    ...unused.map((name) => ({
      path: ['credits', name],
      message: `expected no such rate: ${mode} uses ${[...needs, ...takes].join(', ')}`,
    })),
  ];
}

function tierIssues(pricing: Pricing): readonly Issue[] {
  const rungs = pricing.token_tiers;
  if (rungs === undefined) return [];
  if (pricing.mode !== 'per_token') {
    return [{ path: ['token_tiers'], message: `expected no tiers: only per_token has them, not ${pricing.mode}` }];
  }
  const { input_per_k, output_per_k } = pricing.credits;
  if (input_per_k === undefined || output_per_k === undefined) return [];
  return rungs.flatMap((rung, index) => rungIssues(pricing, rung, index));
}

function rungIssues(pricing: Pricing, rung: TokenRung, index: number): readonly Issue[] {
  const threshold = pricing.token_tiers?.[index - 1]?.min_prompt_tokens ?? 0;
  if (rung.min_prompt_tokens > threshold) return [];
  const message = `expected more than ${threshold}: thresholds rise from rung to rung`;
  return [{ path: ['token_tiers', index, 'min_prompt_tokens'], message }];
}

/** What is lawful in a price and probably not meant: where a longer prompt costs less, callers may pad theirs. */
export function pricingWarnings(pricing: Pricing): readonly Issue[] {
  const rungs = pricing.token_tiers ?? [];
  const names = TOKEN_RATES.filter((name) => name !== 'cache_write_per_k' || hasCacheWriteRate(pricing));
  return rungs.flatMap((rung, index) => {
    const ratesBelow = tokenRates(pricing, rungs[index - 1]);
    const rates = tokenRates(pricing, rung);
    return names
      .filter((name) => rates[name] < ratesBelow[name])
      .map((name) => ({
        path: ['token_tiers', index, name],
        message: `comes to ${rates[name]}, less than ${ratesBelow[name]} below this rung: a longer prompt becomes cheaper`,
      }));
  });
}

const TOKEN_RATES = [
  'input_per_k',
  'output_per_k',
  'cached_per_k',
  'cache_write_per_k',
  'reasoning_per_k',
] as const satisfies readonly TokenRate[];

function boundIssues(pricing: Pricing): readonly Issue[] {
  if (largestCharge(pricing) <= AMOUNT_MICRO_MAX) return [];
  const most = AMOUNT_MICRO_MAX / MICRO_PER_CREDIT;
  return [{ path: ['credits'], message: `this price could exceed ${most} credits for one request` }];
}

// A figure that cannot be read exactly ends the check: the price could not be computed from it.
function decimal(decimalsMax: number) {
  const isExact = (value: number) => decimalFromNumber(value, decimalsMax) !== undefined;
  return z
    .number()
    .nonnegative({ abort: true })
    .refine(isExact, { error: `expected at most ${decimalsMax} decimals`, abort: true });
}

/** An object that names the keys it knows when it meets another. */
function strict<Shape extends z.core.$ZodShape>(shape: Shape) {
  const expected = `expected ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown key ${issue.keys.join(', ')}: ${expected}` : undefined,
  });
}

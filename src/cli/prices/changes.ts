import type { ConfigModel } from '../../configuration/index.ts';
import { creditsToText } from '../../credits.ts';
import type { NewRates, Rates } from './new-rates.ts';
import { type Terms, toUsdText } from './rates.ts';

/** A value to be written at a place of the document, as it is written there. */
export interface Change {
  readonly path: readonly (string | number)[];
  /** A number, or rungs as a list of maps. */
  readonly value: string | readonly Readonly<Record<string, string>>[];
}

/** Reference prices in USD that follow from a rate: its name, and how many of its units they are written for. */
const REFERENCES: Readonly<Record<string, readonly [rate: string, times: bigint]>> = {
  input_usd: ['input_per_k', 1000n],
  cached_usd: ['cached_per_k', 1000n],
  output_usd: ['output_per_k', 1000n],
  reasoning_usd: ['reasoning_per_k', 1000n],
  per_image_usd: ['base', 1n],
  per_second_usd: ['per_second', 1n],
  per_audio_second_usd: ['per_second', 1n],
  per_k_char_usd: ['base', 1n],
};

/** What of a model's `pricing` is to be written. */
export function changesOf(model: ConfigModel, at: number, rates: NewRates, terms: Terms): readonly Change[] {
  const pricing = ['models', at, 'pricing'];
  const { credits, rungs = [] } = rates;
  return [
    ...rateChanges([...pricing, 'credits'], credits),
    ...rungChanges([...pricing, 'token_tiers'], rungs, model.pricing.token_tiers ?? []),
    ...Object.entries(REFERENCES).flatMap(([name, [rate, times]]) => {
      const amount = credits.get(rate);
      if (!Object.hasOwn(model.pricing, name) || amount === undefined) return [];
      return [{ path: [...pricing, name], value: toUsdText(amount, times, terms) }];
    }),
  ];
}

/** Figures in USD of a model that follow from none of its rates. */
export function strangeReferences({ pricing }: ConfigModel): readonly string[] {
  return Object.keys(pricing).filter((key) => key.endsWith('_usd') && !Object.hasOwn(REFERENCES, key));
}

function rateChanges(path: Change['path'], rates: Rates): readonly Change[] {
  return [...rates].map(([name, amount]) => ({ path: [...path, name], value: creditsToText(amount) }));
}

/** Rungs are changed in their places where there are as many as before, so that their comments stay. */
function rungChanges(
  path: Change['path'],
  rungs: NonNullable<NewRates['rungs']>,
  before: readonly unknown[],
): readonly Change[] {
  if (rungs.length === before.length) {
    return rungs.flatMap(({ minPromptTokens, rates }, at) => [
      { path: [...path, at, 'min_prompt_tokens'], value: String(minPromptTokens) },
      ...rateChanges([...path, at], rates),
    ]);
  }
  const value = rungs.map(({ minPromptTokens, rates }) => ({
    min_prompt_tokens: String(minPromptTokens),
    ...Object.fromEntries([...rates].map(([name, amount]) => [name, creditsToText(amount)])),
  }));
  return [{ path, value }];
}

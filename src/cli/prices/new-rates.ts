import type { ConfigModel } from '../../configuration/index.ts';
import type { Decimal, MicroCredits } from '../../credits.ts';
import { CommandError } from '../command.ts';
import type { ListPrice, PricedUnit, UnitPrices } from './list-price.ts';
import { type Terms, toRate } from './rates.ts';

export type Rates = ReadonlyMap<string, MicroCredits>;

/** What a model is to cost. */
export interface NewRates {
  readonly credits: Rates;
  /** Undefined where the mode has none. */
  readonly rungs: readonly { readonly minPromptTokens: number; readonly rates: Rates }[] | undefined;
}

/**
 * The rates of a model that cover each of its routes: of several prices the highest, since a caller pays the same whichever
 * upstream answers. Throws CommandError for a price that is missing.
 */
export function newRates(model: ConfigModel, rows: readonly ListPrice[], terms: Terms): NewRates {
  if (model.pricing.mode === 'per_token') return tokenRates(model, rows, terms);
  const { rate, unit, units } = countedUnit(model);
  const amounts = rows.map((row) => toRate(required(row, row.prices, unit), units, terms));
  return { credits: new Map([[rate, highest(amounts)]]), rungs: undefined };
}

function countedUnit({ pricing: { mode }, endpoints }: ConfigModel): { rate: string; unit: PricedUnit; units: bigint } {
  switch (mode) {
    case 'per_image':
      return { rate: 'base', unit: 'image', units: 1n };
    case 'per_k_char':
      return { rate: 'base', unit: 'character', units: 1000n };
    case 'per_second':
    case 'per_audio_second':
      // What is heard is counted for transcripts, what is made for all else.
      return {
        rate: 'per_second',
        unit: endpoints.includes('transcriptions') ? 'inputSecond' : 'outputSecond',
        units: 1n,
      };
    case 'per_request':
    case 'per_token':
      throw new CommandError(`is charged ${mode}, and price lists have no such price: write it by hand`);
  }
}

const OPTIONAL_RATES = ['cached_per_k', 'cache_write_per_k', 'reasoning_per_k'] as const;
type TokenRate = 'input_per_k' | 'output_per_k' | (typeof OPTIONAL_RATES)[number];

const TOKENS_PER_RATE = 1000n;

function tokenRates(model: ConfigModel, rows: readonly ListPrice[], terms: Terms): NewRates {
  const { credits, token_tiers = [] } = model.pricing;
  // A rate that stands in the configuration is written anew, also where the list has none: the old one would stay behind.
  const written = OPTIONAL_RATES.filter(
    (name) =>
      credits[name] !== undefined || token_tiers.some((rung) => rung[name]) || rows.some((row) => hasPrice(row, name)),
  );
  const names: readonly TokenRate[] = ['input_per_k', ...written, 'output_per_k'];
  const ratesAbove = (tokens: number): Rates => {
    const prices = rows.map((row) => pricesAbove(model, row, tokens));
    return new Map(names.map((name) => [name, highest(prices.map((of) => toRate(of[name], TOKENS_PER_RATE, terms)))]));
  };
  const thresholds = [...new Set(rows.flatMap(({ tiers }) => tiers.map(({ aboveTokens }) => aboveTokens)))];
  const rungs = thresholds.sort((left, right) => left - right);
  return {
    credits: ratesAbove(0),
    rungs: rungs.map((tokens) => ({ minPromptTokens: tokens, rates: ratesAbove(tokens) })),
  };
}

const UNIT_OF_RATE = {
  cached_per_k: 'cachedToken',
  cache_write_per_k: 'cacheWriteToken',
  reasoning_per_k: 'reasoningToken',
} as const;

function hasPrice({ prices, tiers }: ListPrice, name: keyof typeof UNIT_OF_RATE): boolean {
  return [prices, ...tiers.map((tier) => tier.prices)].some((of) => above0(of[UNIT_OF_RATE[name]]) !== undefined);
}

/** What each kind of token costs in prompts longer than this; what has no price costs what input or output does. */
function pricesAbove(model: ConfigModel, row: ListPrice, tokens: number): Record<TokenRate, Decimal> {
  const tier = row.tiers.findLast(({ aboveTokens }) => aboveTokens <= tokens)?.prices ?? {};
  const prices = { ...row.prices, ...tier };
  const isWithoutOutput = row.isEmbedding || model.endpoints.every((endpoint) => endpoint === 'embeddings');
  const input = required(row, prices, 'inputToken');
  const output = isWithoutOutput ? (prices.outputToken ?? NOTHING) : required(row, prices, 'outputToken');
  return {
    input_per_k: input,
    output_per_k: output,
    cached_per_k: above0(prices.cachedToken) ?? input,
    cache_write_per_k: above0(prices.cacheWriteToken) ?? input,
    reasoning_per_k: above0(prices.reasoningToken) ?? output,
  };
}

const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** In these lists 0 stands for a price that is not known as often as for none; the dearer reading is taken. */
function above0(price: Decimal | undefined): Decimal | undefined {
  return price === undefined || price.digits === 0n ? undefined : price;
}

const UNIT_WORDS: Readonly<Record<PricedUnit, string>> = {
  inputToken: 'an input token',
  outputToken: 'an output token',
  cachedToken: 'a cached token',
  cacheWriteToken: 'a token written to a cache',
  reasoningToken: 'a token of reasoning',
  image: 'a picture',
  inputSecond: 'a second of sound that is heard',
  outputSecond: 'a second that is made',
  character: 'a character',
};

function required({ row }: ListPrice, prices: UnitPrices, unit: PricedUnit): Decimal {
  const price = prices[unit];
  if (price === undefined) throw new CommandError(`${row} has no price of ${UNIT_WORDS[unit]}`);
  if (price.digits > 0n) return price;
  throw new CommandError(`${row} prices ${UNIT_WORDS[unit]} at 0, which is taken for a gap: write its price by hand`);
}

function highest(amounts: readonly MicroCredits[]): MicroCredits {
  return amounts.reduce((most, amount) => (amount > most ? amount : most));
}

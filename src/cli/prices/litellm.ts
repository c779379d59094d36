import type { Decimal } from '../../credits.ts';
import { CommandError } from '../command.ts';
import { type Fields, isFields, type ListPrice, listedPrice, ownField, type PricedUnit } from './list-price.ts';

const TOKEN_FIELDS: Readonly<Record<string, PricedUnit>> = {
  input_cost_per_token: 'inputToken',
  output_cost_per_token: 'outputToken',
  cache_read_input_token_cost: 'cachedToken',
  cache_creation_input_token_cost: 'cacheWriteToken',
  output_cost_per_reasoning_token: 'reasoningToken',
};

/** Where two name the same unit, the first that is there counts. */
const FIELDS: Readonly<Record<string, PricedUnit>> = {
  ...TOKEN_FIELDS,
  output_cost_per_image: 'image',
  input_cost_per_second: 'inputSecond',
  input_cost_per_audio_per_second: 'inputSecond',
  output_cost_per_second: 'outputSecond',
  output_cost_per_video_per_second: 'outputSecond',
  input_cost_per_character: 'character',
};

const TIER = /^(\w+)_above_(\d{1,6})k_tokens$/;
/** Prices of ways of calling that a gateway does not use. */
const OTHER_WAYS = /_(?:batch|batches|flex|priority)$/;

/** Whether a file is LiteLLM's `model_prices_and_context_window.json`. */
export function isLiteLlm(file: Fields): boolean {
  return Object.values(file).some((row) => isFields(row) && typeof ownField(row, 'litellm_provider') === 'string');
}

/** The name of the row of a model: the model's own, where it belongs to one of these makers, or behind the maker's. */
export function findLiteLlm(file: Fields, makers: readonly string[], model: string): string | undefined {
  const row = ownField(file, model);
  if (isFields(row) && isOf(String(ownField(row, 'litellm_provider')), makers)) return model;
  const names = makers.map((maker) => `${maker}/${model}`);
  return names.find((name) => ownField(file, name) !== undefined);
}

/** Some makers are divided further there: `vertex_ai-language-models`. */
function isOf(maker: string, makers: readonly string[]): boolean {
  return makers.some((name) => maker === name || maker.startsWith(`${name}-`));
}

/** Throws CommandError for what is no price. */
export function readLiteLlm(file: Fields, name: string): ListPrice {
  const row = ownField(file, name);
  if (!isFields(row)) throw new CommandError(`${name} is no row of prices`);
  if (ownField(row, 'tiered_pricing') !== undefined) {
    throw new CommandError(`${name} is priced by tiered_pricing, which is not read: write its price by hand`);
  }
  const prices: Partial<Record<PricedUnit, Decimal>> = {};
  for (const [field, unit] of Object.entries(FIELDS)) {
    const value = ownField(row, field);
    if (value !== undefined && value !== null) prices[unit] ??= listedPrice(value, name, field);
  }
  return {
    row: name,
    prices,
    tiers: tiersOf(row, name),
    isEmbedding: ownField(row, 'mode') === 'embedding',
    unread: Object.keys(row).filter(isUnread),
  };
}

function tiersOf(row: Fields, name: string): ListPrice['tiers'] {
  const tiers = new Map<number, Partial<Record<PricedUnit, Decimal>>>();
  for (const [field, value] of Object.entries(row)) {
    const [, of = '', thousands] = TIER.exec(field) ?? [];
    const unit = Object.hasOwn(TOKEN_FIELDS, of) ? TOKEN_FIELDS[of] : undefined;
    if (unit === undefined || value === null) continue;
    const aboveTokens = Number(thousands) * 1000;
    const prices = tiers.get(aboveTokens) ?? {};
    prices[unit] = listedPrice(value, name, field);
    tiers.set(aboveTokens, prices);
  }
  return [...tiers].map(([aboveTokens, prices]) => ({ aboveTokens, prices })).sort(byThreshold);
}

function byThreshold(left: { aboveTokens: number }, right: { aboveTokens: number }): number {
  return left.aboveTokens - right.aboveTokens;
}

/** Variants of a price that is read, such as `output_cost_per_second_1080p`. */
function isUnread(field: string): boolean {
  if (Object.hasOwn(FIELDS, field) || TIER.test(field) || OTHER_WAYS.test(field)) return false;
  return Object.keys(FIELDS).some((known) => field.startsWith(`${known}_`));
}

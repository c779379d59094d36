import type { Decimal } from '../../credits.ts';
import { CommandError } from '../command.ts';
import {
  type Fields,
  Figure,
  isFields,
  type ListPrice,
  listedPrice,
  ownField,
  type PricedUnit,
  type UnitPrices,
} from './list-price.ts';

/** In USD per million tokens. */
const FIELDS: Readonly<Record<string, PricedUnit>> = {
  input: 'inputToken',
  output: 'outputToken',
  cache_read: 'cachedToken',
  cache_write: 'cacheWriteToken',
  reasoning: 'reasoningToken',
};
const MILLION_DECIMALS = 6;
const LONG_CONTEXT_TOKENS = 200_000;

/** Whether a file is the `api.json` of models.dev: makers, each with its models. */
export function isModelsDev(file: Fields): boolean {
  const makers = Object.values(file);
  return makers.length > 0 && makers.every((maker) => isFields(maker) && isFields(ownField(maker, 'models')));
}

export function findModelsDev(file: Fields, makers: readonly string[], model: string): string | undefined {
  const maker = makers.find((name) => modelAt(file, name, model) !== undefined);
  return maker === undefined ? undefined : `${maker}/${model}`;
}

/** `name` is `maker/model`. Throws CommandError for what is no price. */
export function readModelsDev(file: Fields, name: string): ListPrice {
  const slash = name.indexOf('/');
  const model = modelAt(file, name.slice(0, slash), name.slice(slash + 1));
  if (model === undefined) throw new CommandError(`${name} is not there`);
  const cost = ownField(model, 'cost');
  if (!isFields(cost)) throw new CommandError(`${name} has no cost there`);
  return { row: name, prices: pricesIn(cost, name), tiers: tiersOf(cost, name), isEmbedding: false, unread: [] };
}

function modelAt(file: Fields, maker: string, model: string): Fields | undefined {
  const entry = ownField(file, maker);
  const models = isFields(entry) ? ownField(entry, 'models') : undefined;
  const found = isFields(models) ? ownField(models, model) : undefined;
  return isFields(found) ? found : undefined;
}

function pricesIn(cost: Fields, name: string): UnitPrices {
  const read = Object.entries(FIELDS).flatMap(([field, unit]) => {
    const value = ownField(cost, field);
    return value === undefined || value === null
      ? []
      : [[unit, perOne(listedPrice(value, name, `cost.${field}`))] as const];
  });
  return Object.fromEntries(read);
}

function perOne({ digits, scale }: Decimal): Decimal {
  return { digits, scale: scale + MILLION_DECIMALS };
}

function tiersOf(cost: Fields, name: string): ListPrice['tiers'] {
  const tiers = ownField(cost, 'tiers');
  const long = ownField(cost, 'context_over_200k');
  if (Array.isArray(tiers)) {
    const read = tiers.map((tier: unknown) => tierOf(tier, name));
    return read.sort((left, right) => left.aboveTokens - right.aboveTokens);
  }
  return isFields(long) ? [{ aboveTokens: LONG_CONTEXT_TOKENS, prices: pricesIn(long, name) }] : [];
}

function tierOf(tier: unknown, name: string): ListPrice['tiers'][number] {
  const bound = isFields(tier) ? ownField(tier, 'tier') : undefined;
  const size = isFields(bound) && ownField(bound, 'type') === 'context' ? ownField(bound, 'size') : undefined;
  if (!isFields(tier) || !(size instanceof Figure) || !/^[1-9]\d{0,8}$/.test(size.text)) {
    throw new CommandError(`${name} has a tier that does not go by the length of the prompt: write its price by hand`);
  }
  return { aboveTokens: Number(size.text), prices: pricesIn(tier, name) };
}

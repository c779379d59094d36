import { type Decimal, decimalFromText } from '../../credits.ts';
import { CommandError } from '../command.ts';

/** What a public list prices, in USD for one of it. */
export type PricedUnit =
  | 'inputToken'
  | 'outputToken'
  | 'cachedToken'
  | 'cacheWriteToken'
  | 'reasoningToken'
  | 'image'
  | 'inputSecond'
  | 'outputSecond'
  | 'character';

export type UnitPrices = Readonly<Partial<Record<PricedUnit, Decimal>>>;

/** A row of a price list. */
export interface ListPrice {
  /** As the list calls it. */
  readonly row: string;
  readonly prices: UnitPrices;
  /** Prices of prompts longer than a threshold, by rising thresholds. */
  readonly tiers: readonly { readonly aboveTokens: number; readonly prices: UnitPrices }[];
  /** It makes no tokens, so that they need no price. */
  readonly isEmbedding: boolean;
  /** Prices of the row that have no place in a configuration. */
  readonly unread: readonly string[];
}

/** A number of a price list, as it is written there. A double would lose what exact arithmetic needs. */
export class Figure {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Far more decimals than any price has, and few enough to be computed with. */
const DECIMALS_MAX = 60;
/** Above this it is no price of one token, picture, second or character. */
const USD_MAX = 1_000_000n;

/** Throws CommandError for what is no price. */
export function listedPrice(value: unknown, row: string, field: string): Decimal {
  if (!(value instanceof Figure)) throw new CommandError(`${field} of ${row} is no number`);
  const decimal = decimalFromText(value.text, DECIMALS_MAX);
  if (decimal === undefined)
    throw new CommandError(`${field} of ${row} is ${value.text}, which cannot be read exactly`);
  if (decimal.digits < 0n) throw new CommandError(`${field} of ${row} is ${value.text}, less than nothing`);
  if (decimal.digits > USD_MAX * 10n ** BigInt(decimal.scale)) {
    throw new CommandError(`${field} of ${row} is ${value.text} USD, which is no price`);
  }
  return decimal;
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Figure);
}

/** A property of the file itself, never one that every object inherits. */
export function ownField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

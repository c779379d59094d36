import type { MicroCredits } from '../credits.ts';
import { ApiError } from '../errors.ts';
import { charge, type FrozenPrice, freezePrice, type Pricing, type Selectors, type Units } from '../pricing/index.ts';

/** The price in force for one request, frozen, and what its estimated units come to. */
export interface Quote {
  readonly price: FrozenPrice;
  /** The same as the text that the reservation keeps. */
  readonly priceText: string;
  readonly amount: MicroCredits;
}

/** Throws `invalid_parameter` when the request asks for more than can be priced. */
export function quote(pricing: Pricing, selectors: Selectors, estimate: Units): Quote {
  const { price, priceText } = frozen(pricing, selectors);
  return { price, priceText, amount: chargeOrRefuse(price, estimate) };
}

function chargeOrRefuse(price: FrozenPrice, units: Units): MicroCredits {
  try {
    return charge(price, units);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ApiError('invalid_parameter', { message: 'The request asks for more than one call may.', cause: error });
  }
}

type Frozen = Omit<Quote, 'amount'>;

// A pricing object lives as long as its configuration; most requests select nothing, so most share one frozen price.
const frozenOf = new WeakMap<Pricing, Map<string, Frozen>>();
const SELECTIONS_KEPT_MAX = 64;

function frozen(pricing: Pricing, selectors: Selectors): Frozen {
  let prices = frozenOf.get(pricing);
  if (prices === undefined) {
    prices = new Map();
    frozenOf.set(pricing, prices);
  }
  const { size, quality, resolution, generateAudio, referenceVideo } = selectors;
  const selection = `${size}\0${quality}\0${resolution}\0${generateAudio}\0${referenceVideo}`;
  let found = prices.get(selection);
  if (found === undefined) {
    const price = freezePrice(pricing, selectors);
    found = { price, priceText: JSON.stringify(price) };
    if (prices.size < SELECTIONS_KEPT_MAX) prices.set(selection, found);
  }
  return found;
}

import type { PublicPricing } from '../api/schema.ts';
import type { Language, Say } from '../text.tsx';
import { calculate, type Order } from './charge.ts';
import { creditsText } from './format.ts';
import { rateText } from './formula.tsx';

/** What one unit costs, in words. */
export function rateWords(pricing: PublicPricing, say: Say, language: Language): string {
  const { credits } = pricing;
  const rate = (value = 0) => rateText(value, language);
  const once =
    credits.base === undefined || credits.base === 0 ? '' : ` + ${say('price.once', { credits: rate(credits.base) })}`;
  switch (pricing.mode) {
    case 'per_image':
      return say('price.perImage', { credits: rate(credits.base) });
    case 'per_request':
      return say('price.perRequest', { credits: rate(credits.base) });
    case 'per_k_char':
      return say('price.perCharacters', { credits: rate(credits.base) });
    case 'per_second':
      return say('price.perSecond', { credits: rate(credits.per_second) }) + once;
    case 'per_audio_second':
      return say('price.perAudioSecond', { credits: rate(credits.per_second) }) + once;
    case 'per_token':
      return say('price.perToken', { input: rate(credits.input_per_k), output: rate(credits.output_per_k) });
  }
}

export interface PriceExample {
  readonly words: string;
  readonly credits: number;
}

/** Typical calls and what they cost, such as "5 s at 1080p". */
export function priceExamples(pricing: PublicPricing, say: Say, language: Language): readonly PriceExample[] {
  return ordersOf(pricing).map(({ choice, ...order }) => {
    const what = amountWords(order, say, language);
    return {
      words: choice === undefined ? what : say('price.at', { what, choice }),
      credits: calculate(pricing, order).credits,
    };
  });
}

export function exampleText({ words, credits }: PriceExample, say: Say, language: Language): string {
  return say('price.example', { what: words, credits: creditsText(credits, language) });
}

interface TypicalOrder extends Order {
  /** What was chosen that changes the price, as the reader knows it. */
  readonly choice?: string;
}

function ordersOf(pricing: PublicPricing): readonly TypicalOrder[] {
  const units = UNITS_OF[pricing.mode];
  const resolutions = Object.keys(pricing.resolution_ratio ?? {});
  if (resolutions.length > 0)
    return resolutions.map((resolution) => ({ units, choices: { resolution }, choice: resolution }));
  const sizes = Object.keys(pricing.size_ratio ?? {});
  if (sizes.length > 0) return sizes.map((size) => ({ units, choices: { size }, choice: size }));
  return [{ units }];
}

const UNITS_OF: Readonly<Record<PublicPricing['mode'], Order['units']>> = {
  per_image: { images: 1 },
  per_request: { requests: 1 },
  per_second: { milliseconds: 5000 },
  per_audio_second: { milliseconds: 60_000 },
  per_k_char: { characters: 1000 },
  per_token: { inputTokens: 1000, outputTokens: 500 },
};

function amountWords({ units }: Order, say: Say, language: Language): string {
  const count = (value = 0) => creditsText(value, language);
  if (units.images !== undefined) return say('count.image', { count: count(units.images) });
  if (units.milliseconds !== undefined) return say('count.seconds', { count: count(units.milliseconds / 1000) });
  if (units.characters !== undefined) return say('count.characters', { count: count(units.characters) });
  if (units.inputTokens !== undefined) {
    const input = say('count.inputTokens', { count: count(units.inputTokens) });
    return `${input} + ${say('count.outputTokens', { count: count(units.outputTokens) })}`;
  }
  return say('count.request', { count: count(units.requests) });
}

import type { PublicPricing } from '../../api/schema.ts';
import { creditsText } from '../../kit/format.ts';
import { rateText } from '../../kit/formula.tsx';
import { priceExamples, rateWords } from '../../kit/price-text.ts';
import { Table } from '../../kit/table.tsx';
import { type Language, type Say, useText } from '../../text.tsx';

interface Row {
  readonly what: string;
  readonly price: string;
}

const RATIO_MAPS = ['size_ratio', 'quality_ratio', 'resolution_ratio', 'flag_ratio'] as const;

/** The price of a model, whole: the rate, what multiplies it, the steps of long prompts, and typical calls. */
export function Prices({ pricing }: { readonly pricing: PublicPricing }) {
  const { say, language } = useText();
  return (
    <Table
      label={say('models.price')}
      rows={rowsOf(pricing, say, language)}
      keyOf={({ what }) => what}
      columns={[
        { label: say('models.what'), cell: ({ what }) => what },
        { label: say('models.price'), cell: ({ price }) => price, end: true },
      ]}
    />
  );
}

function rowsOf(pricing: PublicPricing, say: Say, language: Language): readonly Row[] {
  const { cached_per_k, cache_write_per_k: written, reasoning_per_k } = pricing.credits;
  const perThousand = (rate: number) => say('price.perTokens', { credits: rateText(rate, language) });
  return [
    { what: say('price.rate'), price: rateWords(pricing, say, language) },
    ...(cached_per_k === undefined ? [] : [{ what: say('price.cached'), price: perThousand(cached_per_k) }]),
    ...(written === undefined ? [] : [{ what: say('price.cacheWrite'), price: perThousand(written) }]),
    ...(reasoning_per_k === undefined ? [] : [{ what: say('price.reasoning'), price: perThousand(reasoning_per_k) }]),
    ...RATIO_MAPS.flatMap((map) =>
      Object.entries(pricing[map] ?? {}).map(([key, ratio]) => ({
        what: `${say(`price.map.${map}`)}: ${key.replaceAll('_', ' ')}`,
        price: `× ${rateText(ratio, language)}`,
      })),
    ),
    ...(pricing.token_tiers ?? []).map((tier) => ({
      what: say('price.above', { tokens: rateText(tier.min_prompt_tokens, language) }),
      price: say('price.perToken', {
        input: rateText(tier.input_per_k || (pricing.credits.input_per_k ?? 0), language),
        output: rateText(tier.output_per_k || (pricing.credits.output_per_k ?? 0), language),
      }),
    })),
    ...priceExamples(pricing, say, language).map((example) => ({
      what: say('price.exampleOf', { what: example.words }),
      price: say('price.credits', { credits: creditsText(example.credits, language) }),
    })),
  ];
}

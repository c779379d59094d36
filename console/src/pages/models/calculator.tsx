import { Checkbox, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { PublicPricing } from '../../api/schema.ts';
import { calculate, type Order } from '../../kit/charge.ts';
import { creditsText } from '../../kit/format.ts';
import { Formula } from '../../kit/formula.tsx';
import { type TextKey, useText } from '../../text.tsx';
import type { Offer } from './offers.ts';

type UnitName = keyof Order['units'];

interface Count {
  readonly unit: UnitName;
  readonly label: TextKey;
  readonly start: number;
  readonly max: number;
  /** Units in one of what is asked for: a second is a thousand milliseconds. */
  readonly each: number;
}

const COUNTS: Readonly<Record<PublicPricing['mode'], readonly Count[]>> = {
  per_image: [{ unit: 'images', label: 'calculator.images', start: 1, max: 1000, each: 1 }],
  per_request: [{ unit: 'requests', label: 'calculator.requests', start: 1, max: 1000, each: 1 }],
  per_second: [{ unit: 'milliseconds', label: 'calculator.seconds', start: 5, max: 86_400, each: 1000 }],
  per_audio_second: [{ unit: 'milliseconds', label: 'calculator.seconds', start: 60, max: 86_400, each: 1000 }],
  per_k_char: [{ unit: 'characters', label: 'calculator.characters', start: 1000, max: 10_000_000, each: 1 }],
  per_token: [
    { unit: 'inputTokens', label: 'calculator.inputTokens', start: 1000, max: 100_000_000, each: 1 },
    { unit: 'cachedTokens', label: 'calculator.cachedTokens', start: 0, max: 100_000_000, each: 1 },
    { unit: 'cacheWriteTokens', label: 'calculator.cacheWriteTokens', start: 0, max: 100_000_000, each: 1 },
    { unit: 'outputTokens', label: 'calculator.outputTokens', start: 500, max: 100_000_000, each: 1 },
    { unit: 'reasoningTokens', label: 'calculator.reasoningTokens', start: 0, max: 100_000_000, each: 1 },
  ],
};

const SELECTS = [
  ['size', 'size_ratio'],
  ['quality', 'quality_ratio'],
  ['resolution', 'resolution_ratio'],
] as const;

const FLAGS = [
  ['generateAudio', 'generate_audio'],
  ['referenceVideo', 'reference_video'],
] as const;

/** What a call of this size would cost, by the gateway's own arithmetic. */
export function Calculator({ offer: { pricing } }: { readonly offer: Offer }) {
  const { say, language } = useText();
  const [counts, setCounts] = useState<Readonly<Partial<Record<UnitName, string | number>>>>({});
  const [choices, setChoices] = useState<NonNullable<Order['choices']>>({});
  const fields = COUNTS[pricing.mode].filter((count) => isPriced(pricing, count));
  const units = Object.fromEntries(
    fields.map(({ unit, start, max, each }) => [unit, unitsOf(counts[unit] ?? start, max, each)]),
  );
  const calculation = calculate(pricing, { units, choices });
  return (
    <Stack gap="sm">
      {fields.map(({ unit, label, start, max, each }) => (
        <NumberInput
          key={unit}
          label={say(label)}
          value={counts[unit] ?? start}
          onChange={(value) => setCounts({ ...counts, [unit]: value })}
          min={0}
          max={max}
          decimalScale={each === 1 ? 0 : 3}
          thousandSeparator=","
        />
      ))}
      {SELECTS.map(([choice, map]) =>
        pricing[map] === undefined ? null : (
          <Select
            key={choice}
            label={say(`price.map.${map}`)}
            placeholder={say('calculator.usual')}
            data={Object.keys(pricing[map])}
            value={choices[choice] ?? null}
            onChange={(value) => setChoices({ ...choices, [choice]: value ?? undefined })}
            clearable
          />
        ),
      )}
      {FLAGS.map(([choice, key]) =>
        pricing.flag_ratio?.[key] === undefined ? null : (
          <Checkbox
            key={choice}
            label={say(`calculator.${choice}`)}
            checked={choices[choice] ?? false}
            onChange={(event) => setChoices({ ...choices, [choice]: event.currentTarget.checked })}
          />
        ),
      )}
      <div role="status">
        <Text size="xl" fw={650} className="num" data-testid="calculated">
          {creditsText(calculation.credits, language)} {say('unit.credits')}
        </Text>
        <Formula calculation={calculation} />
      </div>
    </Stack>
  );
}

/** Cached, written and reasoning tokens are asked for where they have a price of their own. */
function isPriced({ credits }: PublicPricing, { unit }: Count): boolean {
  if (unit === 'cachedTokens') return credits.cached_per_k !== undefined;
  if (unit === 'cacheWriteTokens') return credits.cache_write_per_k !== undefined;
  return unit !== 'reasoningTokens' || credits.reasoning_per_k !== undefined;
}

function unitsOf(value: string | number, max: number, each: number): number {
  const count = Math.min(Math.max(Number(value) || 0, 0), max);
  return Math.ceil(count * each);
}

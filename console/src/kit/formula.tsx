import { Text } from '@mantine/core';
import { type Language, type Say, type TextKey, useText } from '../text.tsx';
import type { Calculation } from './charge.ts';
import { countText, creditsText } from './format.ts';

/** Why it costs what it costs, in one line: units × rate × ratios + what is charged once. */
export function Formula({ calculation: { credits, factors } }: { readonly calculation: Calculation }) {
  const { say, language } = useText();
  const units = factors.units.map((unit) => unitText(unit, say, language));
  // A ratio of one changes nothing, and explains nothing.
  const changing = factors.ratios.filter(({ ratio }) => ratio !== 1);
  const sum = units.length > 1 && changing.length > 0 ? `(${units.join(' + ')})` : units.join(' + ');
  const ratios = changing.map(({ key, ratio }) => ` × ${creditsText(ratio, language)} (${key.replaceAll('_', ' ')})`);
  const once = factors.once === 0 ? '' : ` + ${creditsText(factors.once, language)}`;
  return (
    <Text size="xs" className="soft" data-testid="formula">
      {sum}
      {ratios.join('')}
      {once} = {creditsText(credits, language)} {say('unit.credits')}
    </Text>
  );
}

/** One of them, where the language has another word for it. */
const ONE: Readonly<Partial<Record<TextKey, TextKey>>> = {
  'count.images': 'count.image',
  'count.requests': 'count.request',
};

type Unit = Calculation['factors']['units'][number];

const UNITS: Readonly<Record<string, TextKey>> = {
  images: 'count.images',
  requests: 'count.requests',
  milliseconds: 'count.seconds',
  characters: 'count.characters',
  input_tokens: 'count.inputTokens',
  cached_tokens: 'count.cachedTokens',
  cache_write_tokens: 'count.cacheWriteTokens',
  output_tokens: 'count.outputTokens',
  reasoning_tokens: 'count.reasoningTokens',
};

function unitText({ unit, count, per, rate }: Unit, say: Say, language: Language): string {
  const name = unit.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const key = UNITS[name];
  // Time is counted in milliseconds and told in the seconds of its rate.
  const isTime = name === 'milliseconds';
  const shown = isTime ? creditsText(count / 1000, language) : countText(count, language);
  const words = key === undefined ? `${shown} ${name}` : say(count === 1 ? (ONE[key] ?? key) : key, { count: shown });
  const share = per === 1 || isTime ? '' : ` ÷ ${countText(per, language)}`;
  return `${words}${share} × ${rateText(rate, language)}`;
}

/** A rate has more decimals than an amount. */
export function rateText(rate: number, language: Language): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 9 }).format(rate);
}

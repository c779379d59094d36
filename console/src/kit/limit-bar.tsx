import { Progress, Text } from '@mantine/core';
import { useText } from '../text.tsx';
import { creditsText } from './format.ts';

interface LimitBarProps {
  readonly used: number;
  readonly limit: number | null;
  readonly reset?: string | null;
}

/** How much of a credit limit is used, as a bar with its figures. */
export function LimitBar({ used, limit, reset = null }: LimitBarProps) {
  const { say, language } = useText();
  if (limit === null) {
    return (
      <Text size="sm" className="num">
        {creditsText(used, language)} <span className="soft">· {say('limit.none')}</span>
      </Text>
    );
  }
  const share = limit === 0 ? 100 : Math.min(100, (100 * used) / limit);
  const words = say('limit.of', { used: creditsText(used, language), limit: creditsText(limit, language) });
  const per = reset === null ? '' : ` ${say(`limit.per.${reset as 'day' | 'week' | 'month'}`)}`;
  return (
    <div style={{ minWidth: 140 }}>
      <Text size="sm" className="num">
        {words}
        {per}
      </Text>
      <Progress value={share} size="sm" color={share >= 100 ? 'gate.6' : 'ink'} aria-label={words + per} />
    </div>
  );
}

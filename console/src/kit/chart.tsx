import { Group, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useText } from '../text.tsx';
import { creditsText, dayText } from './format.ts';

/** What one part spent on each day; null where there is no data. */
export interface DaySeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** How many parts have a colour; the caller adds up the rest as one. */
export const SERIES_MAX = 6;

/** The name of a colour in kit.css. */
export function seriesColor(index: number): string {
  return `--series-${(index % SERIES_MAX) + 1}`;
}

const StackedBars = lazy(async () => ({ default: (await import('./stacked-bars.tsx')).StackedBars }));

interface DayChartProps {
  /** What is shown, for those who do not see it. */
  readonly label: string;
  /** UTC days as `2026-11-17`, without a gap. */
  readonly days: readonly string[];
  readonly series: readonly DaySeries[];
}

/** Credits by day as stacked bars, with a legend and a line that reads the day under the pointer. */
export function DayChart({ label, days, series }: DayChartProps) {
  const [index, setIndex] = useState<number>();
  return (
    <figure className="chart" aria-label={label}>
      <Suspense fallback={<Skeleton height={220} />}>
        <StackedBars days={days} series={series} point={setIndex} />
      </Suspense>
      <Reading days={days} series={series} index={index} />
    </figure>
  );
}

interface ReadingProps {
  readonly days: readonly string[];
  readonly series: readonly DaySeries[];
  readonly index: number | undefined;
}

/** The legend: each part with its sum, or with what it spent on the day under the pointer. */
function Reading({ days, series, index }: ReadingProps) {
  const { say, language } = useText();
  const day = index === undefined ? undefined : days[index];
  const from = days[0];
  const until = days.at(-1);
  const when = (text: string | undefined) =>
    text === undefined ? '' : dayText(new Date(`${text}T00:00:00Z`), language);
  return (
    <figcaption>
      <Text size="sm" className="soft" mb={4}>
        {day === undefined ? say('chart.range', { from: when(from), until: when(until) }) : when(day)}{' '}
        {say('chart.utc')}
      </Text>
      <Group component="ul" gap="md" className="legend">
        {series.map(({ name, values }, place) => {
          const value = index === undefined ? sumOf(values) : (values[index] ?? null);
          return (
            <li key={name}>
              <span className="swatch" aria-hidden="true" style={{ background: `var(${seriesColor(place)})` }} />
              <span className="mono">{name}</span>{' '}
              <span className="num">{value === null ? say('state.noData') : creditsText(value, language)}</span>
            </li>
          );
        })}
      </Group>
    </figcaption>
  );
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

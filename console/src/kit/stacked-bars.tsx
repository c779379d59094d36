import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { type Language, useText } from '../text.tsx';
import { type DaySeries, seriesColor } from './chart.tsx';
import { creditsText, dayText } from './format.ts';

const HEIGHT = 220;
const DAY_SECONDS = 86_400;
const Y_TICKS_MAX = 5;
/** How many pixels the name of a day needs. */
const DAY_LABEL_WIDTH = 64;

interface StackedBarsProps {
  readonly days: readonly string[];
  readonly series: readonly DaySeries[];
  /** Is told the place of the day under the pointer; the same function at every drawing. */
  readonly point: (index: number | undefined) => void;
}

/** The canvas of `DayChart`, a chunk of its own. What it shows is told in words beside it. */
export function StackedBars({ days, series, point }: StackedBarsProps) {
  const { language } = useText();
  const scheme = useComputedColorScheme('light');
  const holder = useRef<HTMLDivElement>(null);
  const { ref, width } = useElementSize<HTMLDivElement>();
  const refs = useMergedRef(ref, holder);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read from the scheme's own style.
  useEffect(() => {
    if (holder.current === null || width === 0) return undefined;
    const options = optionsOf({ days, series, language, width, point });
    const plot = new uPlot(options, stacked(days, series), holder.current);
    return () => plot.destroy();
  }, [days, series, point, language, width, scheme]);
  return <div ref={refs} style={{ height: HEIGHT }} aria-hidden="true" />;
}

/** The heights of the bars' upper edges, the uppermost first: each is drawn over the ones before. */
function stacked(days: readonly string[], series: readonly DaySeries[]): uPlot.AlignedData {
  const edges: (number | null)[][] = [];
  let below: readonly (number | null)[] = days.map(() => null);
  for (const { values } of series) {
    below = values.map((value, index) => (value === null ? (below[index] ?? null) : (below[index] ?? 0) + value));
    edges.unshift([...below]);
  }
  return [days.map(secondsOf), ...edges];
}

interface Drawing extends StackedBarsProps {
  readonly language: Language;
  readonly width: number;
}

function optionsOf({ days, series, language, width, point }: Drawing): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const font = '12px system-ui, sans-serif';
  const bars = uPlot.paths.bars?.({ size: [0.7, 34] });
  const axis = { stroke: color('--soft'), font, ticks: { show: false } } as const;
  const [first, last] = [secondsOf(days[0] ?? ''), secondsOf(days.at(-1) ?? '')];
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [first - DAY_SECONDS / 2, last + DAY_SECONDS / 2] },
      y: { range: (_plot, _low, high) => [0, highest(high)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        splits: () => shownDays(days, width),
        values: (_plot, splits) => splits.map((split) => dayText(new Date(split * 1000), language)),
      },
      {
        ...axis,
        size: 64,
        grid: { stroke: color('--line'), width: 1 },
        splits: (_plot, _axis, _low, high) => ticks(high),
        values: (_plot, splits) => splits.map((split) => creditsText(split, language)),
      },
    ],
    series: [
      {},
      ...series.map((_one, index) => ({
        fill: color(seriesColor(series.length - 1 - index)),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? undefined)] },
  };
}

function secondsOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

/** Every day, every second, every seventh …: as many as there is room for, counted back from the last. */
function shownDays(days: readonly string[], width: number): number[] {
  const room = Math.max(2, Math.floor(width / DAY_LABEL_WIDTH));
  const step = [1, 2, 7, 14, 28, 91].find((size) => days.length / size <= room) ?? 91;
  return days.filter((_day, index) => (days.length - 1 - index) % step === 0).map(secondsOf);
}

/** Steps of 1, 2 or 5 times a power of ten. */
function stepFor(high: number): number {
  const power = 10 ** Math.floor(Math.log10(high / Y_TICKS_MAX));
  return ([1, 2, 5].find((factor) => high / (factor * power) <= Y_TICKS_MAX) ?? 10) * power;
}

function highest(high: number | null): number {
  if (high === null || high <= 0) return 1;
  const step = stepFor(high);
  return Math.ceil(high / step) * step;
}

function ticks(high: number): number[] {
  const step = stepFor(high);
  return Array.from({ length: Math.round(high / step) + 1 }, (_none, index) => index * step);
}

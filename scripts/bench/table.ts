import type { Figures, Round } from './load.ts';

/** One measure: the yardstick's figure, ours, and how they compare: by their ratio, or in words. */
export interface Row {
  readonly measure: string;
  /** Undefined where there is nothing to compare with. */
  readonly bare: number | undefined;
  readonly tollgate: number;
  readonly ratio: number | string;
  readonly goal: string;
}

type Pair = readonly [bare: number, tollgate: number];
type Label = Pick<Row, 'measure' | 'goal'>;

/** The median of what each round says: a machine that is slow for half a minute is slow for both of a pair. */
export function ratioRow(label: Label, pairs: readonly Pair[]): Row {
  return { ...label, ...medians(pairs), ratio: median(pairs.map(([bare, tollgate]) => tollgate / bare)) };
}

/** By how many milliseconds ours is above the yardstick's. */
export function addedMsRow(label: Label, pairs: readonly Pair[]): Row {
  const added = median(pairs.map(([bare, tollgate]) => tollgate - bare));
  return { ...label, ...medians(pairs), ratio: `${added < 0 ? '−' : '+'} ${Math.abs(added).toFixed(2)} ms` };
}

/** Processor time per request, and requests per second. */
export function cpuAndRateRows(what: string, goals: { cpu: string; rate?: string }, rounds: readonly Round[]): Row[] {
  const pairs = (figure: (figures: Figures) => number): Pair[] =>
    rounds.map(({ bare, tollgate }) => [figure(bare), figure(tollgate)]);
  return [
    ratioRow(
      { measure: `${what}, processor µs per request`, goal: goals.cpu },
      pairs(({ cpuMicros }) => cpuMicros),
    ),
    ratioRow(
      { measure: `${what}, requests per second`, goal: goals.rate ?? '' },
      pairs(({ requests, seconds }) => requests / seconds),
    ),
  ];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function printTable(rows: readonly Row[]): void {
  console.log('| measure | yardstick | tollgate | compared | goal |');
  console.log('|---|---|---|---|---|');
  for (const { measure, bare, tollgate, ratio, goal } of rows) {
    const compared = typeof ratio === 'number' ? ratio.toFixed(2) : ratio;
    console.log(
      `| ${measure} | ${bare?.toFixed(1) ?? ''} | ${tollgate.toFixed(tollgate < 10 ? 2 : 1)} | ${compared} | ${goal} |`,
    );
  }
}

function medians(pairs: readonly Pair[]): Pick<Row, 'bare' | 'tollgate'> {
  return { bare: median(pairs.map(([bare]) => bare)), tollgate: median(pairs.map(([, tollgate]) => tollgate)) };
}

import { median } from './load.ts';

/** One measure: the yardstick's figure, ours, and how they compare: by their ratio, or in words. */
export interface Row {
  readonly measure: string;
  /** Undefined where there is nothing to compare with. */
  readonly bare: number | undefined;
  readonly tollgate: number;
  readonly ratio: number | string;
  readonly goal: string;
}

/**
 * By how many milliseconds ours is above the yardstick's, over rounds with one of each: a machine that is slow for half a
 * minute is slow for both.
 */
export function addedMs(
  rounds: readonly (readonly [bare: number, tollgate: number])[],
): Pick<Row, 'bare' | 'tollgate' | 'ratio'> {
  const added = median(rounds.map(([bare, tollgate]) => tollgate - bare));
  return {
    bare: median(rounds.map(([bare]) => bare)),
    tollgate: median(rounds.map(([, tollgate]) => tollgate)),
    ratio: `${added < 0 ? '−' : '+'} ${Math.abs(added).toFixed(2)} ms`,
  };
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

/** One measure: the yardstick's figure, ours, and how they compare: by their ratio, or in words. */
export interface Row {
  readonly measure: string;
  /** Undefined where there is nothing to compare with. */
  readonly bare: number | undefined;
  readonly tollgate: number;
  readonly ratio: number | string;
  readonly goal: string;
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

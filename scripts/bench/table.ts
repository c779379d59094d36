/** One measure: the yardstick's figure, ours, and how they compare. */
export interface Row {
  readonly measure: string;
  readonly bare: number;
  readonly tollgate: number;
  readonly ratio: number;
  readonly goal: string;
}

export function printTable(rows: readonly Row[]): void {
  console.log('| measure | yardstick | tollgate | ratio | goal |');
  console.log('|---|---|---|---|---|');
  for (const { measure, bare, tollgate, ratio, goal } of rows) {
    console.log(`| ${measure} | ${bare.toFixed(1)} | ${tollgate.toFixed(1)} | ${ratio.toFixed(2)} | ${goal} |`);
  }
}

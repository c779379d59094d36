import type { Invocation } from './command.ts';

/** Prints an answer: as JSON, exactly as the gateway gave it, or as the lines that a person reads. */
export function print(options: Invocation['options'], value: unknown, lines: () => string | readonly string[]): void {
  if (options.json !== undefined) console.log(JSON.stringify(value));
  else {
    const text = lines();
    console.log(typeof text === 'string' ? text : text.join('\n'));
  }
}

type Cell = string | number | boolean | null | undefined;

/** Rows in columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] {
  const all = [head.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(textOfCell))];
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function textOfCell(cell: Cell): string {
  return cell === null || cell === undefined || cell === '' ? '-' : String(cell);
}

/** Name and value in two columns. */
export function fields(pairs: readonly (readonly [name: string, value: Cell])[]): readonly string[] {
  const width = Math.max(...pairs.map(([name]) => name.length)) + 2;
  return pairs.map(([name, value]) => `${name.padEnd(width)}${textOfCell(value)}`);
}

/** Unix seconds as a person reads them. */
export function moment(seconds: number | null | undefined): string {
  return seconds == null ? '-' : new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

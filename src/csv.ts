import { creditsToText, type MicroCredits } from './credits.ts';

/** Text for spreadsheets, as RFC 4180 has it. An amount of credits is given as it is, and written in exact decimals. */
type CsvField = string | number | boolean | MicroCredits | null;

/** A column: its name, and what stands in it for a row. */
export type CsvColumns<Row> = readonly (readonly [name: string, field: (row: Row) => CsvField])[];

export function csvHead<Row>(columns: CsvColumns<Row>): string {
  return csvLine(columns.map(([name]) => name));
}

export function csvRows<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): string {
  return rows.map((row) => csvLine(columns.map(([, field]) => field(row)))).join('');
}

function csvLine(fields: readonly CsvField[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

function csvField(field: CsvField): string {
  if (typeof field === 'bigint') return creditsToText(field);
  if (typeof field === 'string') return quoted(field);
  return field === null ? '' : String(field);
}

/** A spreadsheet must take it for text, even if a model is called `=1+1`. */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

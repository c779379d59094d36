import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import type { UsageRange, UsageRow } from '../../reports/index.ts';

/** Usage in wire shape, of one account or of all. */

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_UNSTATED = 30;
const DAYS_MAX = 366;

export function usageRange(from: Date | undefined, to: Date | undefined, now: Date): UsageRange {
  const end = to ?? new Date(now.getTime() + 1);
  const start = from ?? new Date(end.getTime() - DAYS_UNSTATED * DAY_MS);
  const days = (end.getTime() - start.getTime()) / DAY_MS;
  if (days > 0 && days <= DAYS_MAX) return { from: start, to: end };
  const message = `"from" must lie before "to", by at most ${DAYS_MAX} days.`;
  throw new ApiError('invalid_parameter', { message, param: 'from' });
}

export function usageCsv(grouping: string, rows: readonly UsageRow[]): string {
  const lines = rows.map(({ group, requests, credits }) => `${quoted(group)},${requests},${creditsToNumber(credits)}`);
  return [`${grouping},requests,credits`, ...lines, ''].join('\r\n');
}

/** A spreadsheet must take it for text, even if a model is called `=1+1`. */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { type CsvColumns, csvHead, csvRows } from '../../csv.ts';
import { ApiError } from '../../errors.ts';
import {
  SPLITS,
  USAGE_GROUPINGS,
  type UsageDivision,
  type UsageRange,
  type UsageReportRow,
  type UsageRow,
} from '../../reports/index.ts';

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
  const columns: CsvColumns<UsageRow> = [
    [grouping, ({ group }) => group],
    ['requests', ({ requests }) => requests],
    ['credits', ({ credits }) => credits],
  ];
  return csvHead(columns) + csvRows(columns, rows);
}

const figures = {
  requests: z.int().describe('Those that were charged.'),
  credits: z.number(),
  errors: z.int().nullable().describe('Answered with an error; null where the request log does not reach so far back.'),
};

export const usageReportSchema = z
  .strictObject({
    object: z.literal('usage'),
    group_by: z.enum(USAGE_GROUPINGS),
    split_by: z.enum(SPLITS).nullable(),
    from: z.int(),
    to: z.int(),
    data: z.array(
      z.union([
        z.strictObject({ group: z.string(), ...figures }),
        z.strictObject({ day: z.string(), group: z.string(), ...figures }).describe('With `split_by`.'),
      ]),
    ),
    has_more: z.boolean(),
  })
  .meta({ id: 'UsageReport' });

export function usageReportView(
  { grouping, split }: UsageDivision,
  { from, to }: UsageRange,
  rows: readonly UsageReportRow[],
  hasMore: boolean,
): z.infer<typeof usageReportSchema> {
  const data = rows.map(({ group, part, requests, credits, errors }) => ({
    ...(split === undefined ? { group } : { day: group, group: part }),
    requests,
    credits: creditsToNumber(credits),
    errors,
  }));
  return {
    object: 'usage',
    group_by: grouping,
    split_by: split ?? null,
    from: unixSeconds(from),
    to: unixSeconds(to),
    data,
    has_more: hasMore,
  };
}

/** The columns are named after what is grouped by. */
export function usageReportCsv({ grouping, split }: UsageDivision, rows: readonly UsageReportRow[]): string {
  const parts: CsvColumns<UsageReportRow> = split === undefined ? [] : [[split, ({ part }) => part]];
  const columns: CsvColumns<UsageReportRow> = [
    [grouping, ({ group }) => group],
    ...parts,
    ['requests', ({ requests }) => requests],
    ['credits', ({ credits }) => credits],
    ['errors', ({ errors }) => errors],
  ];
  return csvHead(columns) + csvRows(columns, rows);
}

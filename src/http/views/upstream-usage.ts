import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { type CsvColumns, csvHead, csvRows } from '../../csv.ts';
import type { UpstreamUsageRow, UsageRange } from '../../reports/index.ts';

/** Usage by upstream in wire shape: for operators alone, since it names upstreams and what they cost. */

export const upstreamUsageSchema = z
  .strictObject({
    object: z.literal('usage'),
    group_by: z.literal('upstream'),
    split_by: z.null(),
    from: z.int(),
    to: z.int(),
    data: z.array(
      z.strictObject({
        group: z.string().describe('The upstream; `(unknown)` where the request log does not tell it.'),
        requests: z.int().describe('Those that were charged.'),
        credits: z.number().describe('What was charged.'),
        errors: z.int().nullable().describe('Null where the request log does not reach so far back.'),
        cost: z
          .number()
          .nullable()
          .describe('In credits, of requests whose route states its cost; null where none does.'),
        margin: z.number().nullable().describe('What was charged for those, less their cost.'),
        credits_without_cost: z.number().describe('What was charged for requests whose cost is not known.'),
      }),
    ),
    has_more: z.boolean(),
  })
  .meta({ id: 'UpstreamUsageReport' });

export function upstreamUsageView(
  { from, to }: UsageRange,
  rows: readonly UpstreamUsageRow[],
  hasMore: boolean,
): z.infer<typeof upstreamUsageSchema> {
  return {
    object: 'usage',
    group_by: 'upstream',
    split_by: null,
    from: unixSeconds(from),
    to: unixSeconds(to),
    data: rows.map(({ upstream, requests, credits, errors, cost, margin, creditsWithoutCost }) => ({
      group: upstream,
      requests,
      credits: creditsToNumber(credits),
      errors,
      cost: cost === null ? null : creditsToNumber(cost),
      margin: margin === null ? null : creditsToNumber(margin),
      credits_without_cost: creditsToNumber(creditsWithoutCost),
    })),
    has_more: hasMore,
  };
}

export function upstreamUsageCsv(rows: readonly UpstreamUsageRow[]): string {
  const columns: CsvColumns<UpstreamUsageRow> = [
    ['upstream', ({ upstream }) => upstream],
    ['requests', ({ requests }) => requests],
    ['credits', ({ credits }) => credits],
    ['errors', ({ errors }) => errors],
    ['cost', ({ cost }) => cost],
    ['margin', ({ margin }) => margin],
    ['credits_without_cost', ({ creditsWithoutCost }) => creditsWithoutCost],
  ];
  return csvHead(columns) + csvRows(columns, rows);
}

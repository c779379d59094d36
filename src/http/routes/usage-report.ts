import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { orPrecheckFailed } from '../../billing/index.ts';
import { ApiError } from '../../errors.ts';
import { USAGE_ROWS_DEFAULT, USAGE_ROWS_MAX } from '../../limits.ts';
import {
  OPERATOR_GROUPINGS,
  SPLITS,
  USAGE_GROUPINGS,
  type UsageDivision,
  type UsageRange,
  upstreamUsage,
  usageReport,
} from '../../reports/index.ts';
import { momentParam, textParam } from '../contract/fields.ts';
import { callFilters } from '../contract/request-queries.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { upstreamUsageCsv, upstreamUsageSchema, upstreamUsageView } from '../views/upstream-usage.ts';
import { usageRange, usageReportCsv, usageReportSchema, usageReportView } from '../views/usage.ts';

const usageQuery = z.object({
  ...callFilters,
  from: momentParam.optional(),
  to: momentParam.optional().describe('Not included.'),
  group_by: z.enum(USAGE_GROUPINGS).default('day'),
  split_by: z.enum(SPLITS).optional().describe('Divides days; only with `group_by=day`.'),
  format: z.enum(['json', 'csv']).default('json'),
  limit: z
    .string()
    .regex(/^\d{1,6}$/, { error: `expected a whole number from 1 to ${USAGE_ROWS_MAX}` })
    .transform(Number)
    .pipe(z.int().min(1).max(USAGE_ROWS_MAX))
    .default(USAGE_ROWS_DEFAULT),
  after: textParam.describe('The last group of the page before; with `split_by` its day, a comma and the group.'),
});

const operatorQuery = usageQuery.extend({
  account: textParam.describe('The id of an account.'),
  group_by: z.enum(OPERATOR_GROUPINGS).default('day'),
});

type UsageQuery = z.output<typeof usageQuery> & { readonly account?: string | undefined };

/** What was charged, for the console's and the operator's charts. */
export function usageReportRoutes(routes: Routes, deps: HttpDeps): void {
  const summary = 'added up by day, key, model, modality or endpoint, or by day and one of these';
  const answer = { otherMedia: ['text/csv'], codes: ['precheck_failed'] } as const;
  routes.add(
    {
      method: 'GET',
      path: '/api/console/usage',
      summary: `What was charged to the account, ${summary}`,
      access: 'session',
      role: 'viewer',
      query: usageQuery,
      answers: { 200: usageReportSchema },
      ...answer,
    },
    ({ accountId, query, reply }) => answerUsage(deps, reply, { ...query, account: accountId }),
  );
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/usage',
      summary: `What was charged to all accounts, ${summary}, or by account; by upstream with its cost and the margin`,
      access: 'operator',
      query: operatorQuery,
      answers: { 200: z.union([usageReportSchema, upstreamUsageSchema]) },
      ...answer,
    },
    ({ query: { group_by, ...query }, reply }) =>
      group_by === 'upstream'
        ? answerUpstreamUsage(deps, reply, query)
        : answerUsage(deps, reply, { ...query, group_by }),
  );
}

async function answerUpstreamUsage(deps: HttpDeps, reply: FastifyReply, query: Omit<UsageQuery, 'group_by'>) {
  const { split_by: split, format, limit, from, to, after, ...filter } = query;
  refuseSplit(split);
  const { range, since } = await reportedRange(deps, from, to);
  const wanted = { ...filter, ...range, after: { group: after ?? '', part: '' }, limit: limit + 1 };
  const rows = await orPrecheckFailed(() => upstreamUsage(deps.reads, wanted, since));
  const shown = rows.slice(0, limit);
  reply.header('cache-control', 'private, no-store');
  if (format === 'csv') return reply.type('text/csv; charset=utf-8').send(upstreamUsageCsv(shown));
  return upstreamUsageView(range, shown, rows.length > limit);
}

function refuseSplit(split: UsageDivision['split']): void {
  if (split === undefined) return;
  throw new ApiError('invalid_parameter', { message: '"split_by" divides days only.', param: 'split_by' });
}

/** With what this process has logged written, and the time from which the log is whole. */
async function reportedRange(
  { clock, config, requestLog }: HttpDeps,
  from: Date | undefined,
  to: Date | undefined,
): Promise<{ range: UsageRange; since: Date | undefined }> {
  const now = clock.now();
  const range = usageRange(from, to, now);
  await orPrecheckFailed(() => requestLog.flush());
  return { range, since: loggedSince(now, config.requestLogDays) };
}

async function answerUsage(deps: HttpDeps, reply: FastifyReply, query: UsageQuery) {
  const { group_by: grouping, split_by: split, format, limit, from, to, after, ...filter } = query;
  if (grouping !== 'day') refuseSplit(split);
  const { range, since } = await reportedRange(deps, from, to);
  const division = { grouping, split };
  const wanted = { ...filter, ...range, after: cursorOf(division, after), limit: limit + 1 };
  const rows = await orPrecheckFailed(() => usageReport(deps.reads, division, wanted, since));
  const shown = rows.slice(0, limit);
  reply.header('cache-control', 'private, no-store');
  if (format === 'csv') return reply.type('text/csv; charset=utf-8').send(usageReportCsv(division, shown));
  return usageReportView(division, range, shown, rows.length > limit);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Undefined where no request log is kept. */
function loggedSince(now: Date, days: number): Date | undefined {
  return days === 0 ? undefined : new Date(now.getTime() - days * DAY_MS);
}

function cursorOf({ split }: UsageDivision, after: string | undefined): { group: string; part: string } | undefined {
  if (after === undefined) return undefined;
  const comma = split === undefined ? -1 : after.indexOf(',');
  return comma < 0 ? { group: after, part: '' } : { group: after.slice(0, comma), part: after.slice(comma + 1) };
}

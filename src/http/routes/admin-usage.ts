import { z } from 'zod';
import { orPrecheckFailed } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { listAllJobs } from '../../jobs/index.ts';
import { USAGE_ROWS_DEFAULT, USAGE_ROWS_MAX } from '../../limits.ts';
import { listRequests, usageOfAll } from '../../reports/index.ts';
import { momentParam, textParam } from '../contract/fields.ts';
import { callFilters, callListQuery, requestListQuery } from '../contract/request-queries.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { jobRecordSchema, jobRecordView, requestRecordSchema, requestRecordView } from '../views/admin.ts';
import { usageCsv, usageRange } from '../views/usage.ts';

const GROUPINGS = ['day', 'account', 'key', 'model', 'endpoint'] as const;

const ofAccount = { account: textParam.describe('The id of an account.') };

const usageQuery = z.object({
  ...ofAccount,
  ...callFilters,
  from: momentParam.optional(),
  to: momentParam.optional().describe('Not included.'),
  group_by: z.enum(GROUPINGS).default('day'),
  format: z.enum(['json', 'csv']).default('json'),
  limit: z
    .string()
    .regex(/^\d{1,6}$/, { error: `expected a whole number from 1 to ${USAGE_ROWS_MAX}` })
    .transform(Number)
    .pipe(z.int().min(1).max(USAGE_ROWS_MAX))
    .default(USAGE_ROWS_DEFAULT),
  after: textParam.describe('The last group of the page before.'),
});

const usageSchema = z
  .strictObject({
    object: z.literal('usage'),
    group_by: z.enum(GROUPINGS),
    from: z.int(),
    to: z.int(),
    data: z.array(z.strictObject({ group: z.string(), requests: z.int(), credits: z.number() })),
    has_more: z.boolean(),
  })
  .meta({ id: 'DeploymentUsage' });

const requestsQuery = requestListQuery.extend(ofAccount);

const jobsQuery = callListQuery.extend({
  ...ofAccount,
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'queue_expired', 'canceled']).optional(),
  kind: z.enum(['image', 'video', 'audio']).optional(),
  code: textParam.describe('The error code of a job that failed.'),
});

/** What all accounts have used, called and ordered. */
export function usageAdminRoutes(routes: Routes, { db, clock }: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/usage',
      summary: 'What was charged to all accounts, added up by day, account, key, model or endpoint',
      access: 'operator',
      query: usageQuery,
      answers: { 200: usageSchema },
      otherMedia: ['text/csv'],
      codes: ['precheck_failed'],
    },
    async ({ query, reply }) => {
      const { group_by: grouping, format, limit, from, to, ...filter } = query;
      const range = usageRange(from, to, clock.now());
      const rows = await orPrecheckFailed(() => usageOfAll(db, grouping, { ...filter, ...range, limit: limit + 1 }));
      const shown = rows.slice(0, limit);
      reply.header('cache-control', 'no-store');
      if (format === 'csv') return reply.type('text/csv; charset=utf-8').send(usageCsv(grouping, shown));
      return {
        object: 'usage',
        group_by: grouping,
        from: unixSeconds(range.from),
        to: unixSeconds(range.to),
        data: shown.map(({ group, requests, credits }) => ({ group, requests, credits: creditsToNumber(credits) })),
        has_more: rows.length > limit,
      };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/requests',
      summary: 'The calls and jobs of all accounts as the ledger knows them, newest first',
      access: 'operator',
      query: requestsQuery,
      answers: { 200: listOf(requestRecordSchema) },
      codes: ['precheck_failed'],
    },
    ({ query: { limit, request_id, ...filter } }) => {
      const read = (most: number) =>
        orPrecheckFailed(() => listRequests(db, { ...filter, requestId: request_id, limit: most }));
      return page(limit, read, requestRecordView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/jobs',
      summary: 'The jobs of all accounts, newest first, with the upstreams that were asked',
      access: 'operator',
      query: jobsQuery,
      answers: { 200: listOf(jobRecordSchema) },
      codes: ['database_unavailable'],
    },
    ({ query: { limit, request_id, ...filter } }) => {
      const read = (most: number) => listAllJobs(db, { ...filter, requestId: request_id, limit: most });
      return page(limit, read, jobRecordView);
    },
  );
}

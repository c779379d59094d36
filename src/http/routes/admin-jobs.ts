import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { listAllJobs } from '../../jobs/index.ts';
import { textParam } from '../contract/fields.ts';
import { callListQuery } from '../contract/request-queries.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { jobRecordSchema, jobRecordView } from '../views/admin.ts';

const jobsQuery = callListQuery.extend({
  account: textParam.describe('The id of an account.'),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'queue_expired', 'canceled']).optional(),
  kind: z.enum(['image', 'video', 'audio']).optional(),
  code: textParam.describe('The error code of a job that failed.'),
});

/** What all accounts have ordered. */
export function jobAdminRoutes(routes: Routes, { db, reads }: HttpDeps): void {
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
      const read = (most: number) => listAllJobs(reads, { ...filter, requestId: request_id, limit: most });
      return page(limit, read, jobRecordView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/jobs/{job_id}',
      summary: 'One job of any account, with the upstreams that were asked',
      access: 'operator',
      answers: { 200: jobRecordSchema },
      codes: ['job_not_found', 'database_unavailable'],
    },
    async ({ param }) => {
      const [job] = await listAllJobs(db, { id: param('job_id'), limit: 1 });
      if (job === undefined) throw new ApiError('job_not_found');
      return jobRecordView(job);
    },
  );
}

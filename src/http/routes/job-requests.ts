import type { ErrorCode } from '../../errors.ts';
import { getJobRequest } from '../../jobs/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { jobRequestSchema, jobRequestView } from '../views/jobs.ts';

const CODES: readonly ErrorCode[] = ['job_not_found', 'job_service_unavailable', 'database_unavailable'];

/** What a job was asked for, to be looked at and run again: for the people of its account and for operators. */
export function jobRequestRoutes(routes: Routes, deps: HttpDeps): void {
  const summary = 'What a job was asked for, with links to its inputs, and when it came how far';

  routes.add(
    {
      method: 'GET',
      path: '/api/console/jobs/{job_id}/request',
      summary,
      access: 'session',
      role: 'viewer',
      answers: { 200: jobRequestSchema },
      codes: CODES,
    },
    async ({ accountId, param }) => jobRequestView(await getJobRequest(deps, accountId, param('job_id'))),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/jobs/{job_id}/request',
      summary,
      access: 'operator',
      answers: { 200: jobRequestSchema },
      codes: CODES,
    },
    async ({ param, reply }) => {
      reply.header('cache-control', 'private, no-store');
      return jobRequestView(await getJobRequest(deps, undefined, param('job_id')));
    },
  );
}

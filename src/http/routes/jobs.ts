import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { getAssets, getJob, listJobs } from '../../jobs/index.ts';
import { pageQuery, textParam } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { assetsSchema, assetView, jobSchema, jobView } from '../views/jobs.ts';

const listQuery = pageQuery.extend({
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'queue_expired', 'canceled']).optional(),
  kind: z.enum(['image', 'video', 'audio']).optional(),
  model: textParam,
});

const PRIVATE = 'private, no-store';

/** Whatever its kind, a job can be read under each of these. */
const JOB_PATHS = ['/v1/jobs/{job_id}', '/v1/videos/{job_id}', '/v1/audio/music/{job_id}'] as const;
const CONTENT_PATHS = JOB_PATHS.map((path) => `${path}/content` as const);

/** One of the names is enough where no client library asks for the others. */
function forConsole(path: string): { readonly console?: 'read' } {
  return path.startsWith('/v1/jobs/') ? { console: 'read' } : {};
}

export function jobRoutes(routes: Routes, deps: HttpDeps): void {
  for (const path of JOB_PATHS) {
    routes.add(
      {
        method: 'GET',
        path,
        summary: 'How a job is doing',
        access: 'caller',
        scope: 'user:jobs',
        ...forConsole(path),
        answers: { 200: jobSchema },
        codes: ['job_not_found', 'database_unavailable'],
      },
      async ({ accountId, param, reply }) => {
        reply.header('cache-control', PRIVATE);
        return jobView(await getJob(deps, accountId, param('job_id')));
      },
    );
  }
  routes.add(
    {
      method: 'GET',
      path: '/v1/jobs',
      summary: 'The jobs of the account, newest first',
      access: 'caller',
      scope: 'user:jobs',
      console: 'read',
      query: listQuery,
      answers: { 200: listOf(jobSchema) },
      codes: ['database_unavailable'],
    },
    ({ accountId, query: { status, kind, model, after, limit }, reply }) => {
      reply.header('cache-control', PRIVATE);
      const read = (most: number) => listJobs(deps, accountId, { status, kind, model, after, limit: most });
      return page(limit, read, jobView);
    },
  );
  routes.add(
    {
      method: 'GET',
      path: '/v1/jobs/{job_id}/assets',
      summary: 'What a job has made, with fresh links',
      access: 'caller',
      scope: 'user:jobs',
      console: 'read',
      answers: { 200: assetsSchema },
      codes: ['job_not_found', 'job_asset_not_ready', 'job_service_unavailable', 'database_unavailable'],
    },
    async ({ accountId, param, reply }) => {
      reply.header('cache-control', PRIVATE);
      const assets = await getAssets(deps, accountId, param('job_id'));
      return { items: assets.map(assetView) };
    },
  );
  for (const path of CONTENT_PATHS) contentRoute(routes, deps, path);
}

function contentRoute(routes: Routes, deps: HttpDeps, path: (typeof CONTENT_PATHS)[number]): void {
  routes.add(
    {
      method: 'GET',
      path,
      summary: 'Leads to what a job has made first',
      access: 'caller',
      scope: 'user:jobs',
      ...forConsole(path),
      answers: { 302: null },
      codes: ['job_not_found', 'job_asset_not_ready', 'job_service_unavailable', 'database_unavailable'],
    },
    async ({ accountId, param, reply }) => {
      const [first] = await getAssets(deps, accountId, param('job_id'));
      if (first === undefined) throw new ApiError('job_not_found');
      return reply.header('cache-control', PRIVATE).redirect(first.url, 302);
    },
  );
}

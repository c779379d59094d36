import { z } from 'zod';
import { orPrecheckFailed } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { HEALTH_PROBE_TIMEOUT_MS } from '../../limits.ts';
import { type Overview, readOverview } from '../../reports/index.ts';
import type { ObjectStore } from '../../storage/index.ts';
import { momentParam } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';

const overviewSchema = z
  .strictObject({
    object: z.literal('overview'),
    since: z.int().describe('Unix seconds; midnight UTC unless another time was asked for.'),
    requests: z.int().describe('Requests for work since then, refused ones included; neither estimates nor uploads.'),
    errors: z.int().describe('Of these, how many were refused or failed, or became a job that failed.'),
    credits_charged: z.number(),
    credits_held: z.number().describe('By what is running now.'),
    margin: z
      .number()
      .nullable()
      .describe('What was charged for requests whose route states its `cost`, less that cost; null where none does.'),
    jobs: z.array(z.strictObject({ kind: z.string(), status: z.string(), count: z.int() })).describe('Open ones.'),
    oldest_queued_job_age_s: z.number().nullable().describe('Null when none is queued.'),
    transcriptions: z.int().describe('Under way.'),
    open_breakers: z
      .array(z.strictObject({ upstream_id: z.string(), model: z.string().nullable() }))
      .describe('Null for an upstream as a whole.'),
    models_without_candidate: z.array(z.string()),
    books: z
      .strictObject({ checked_at: z.int(), balanced: z.boolean() })
      .nullable()
      .describe('The last check; null before the first.'),
    accounts: z.strictObject({ total: z.int(), suspended: z.int() }),
    database: z.literal('ok').describe('Without it there is no answer but `precheck_failed`.'),
    storage: z.enum(['ok', 'unavailable']),
  })
  .meta({ id: 'Overview' });

/** Today's figures, for the first page that an operator sees. */
export function overviewAdminRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/overview',
      summary: 'Today’s figures: traffic, spending, open work, health and the last check of the books',
      access: 'operator',
      query: z.object({ since: momentParam.optional() }),
      answers: { 200: overviewSchema },
      codes: ['precheck_failed'],
    },
    async ({ query, reply }) => {
      const since = query.since ?? midnight(deps.clock.now());
      const [overview, storage] = await Promise.all([
        orPrecheckFailed(async () => {
          await deps.requestLog.flush();
          return readOverview(deps.reads, since);
        }),
        storageState(deps.objects),
      ]);
      reply.header('cache-control', 'private, no-store');
      return {
        object: 'overview',
        since: unixSeconds(since),
        ...figuresView(overview, deps.clock.now()),
        ...healthView(deps),
        database: 'ok',
        storage,
      };
    },
  );
}

function figuresView(overview: Overview, now: Date) {
  const { oldestQueuedAt, books } = overview;
  return {
    requests: overview.requests,
    errors: overview.errors,
    credits_charged: creditsToNumber(overview.charged),
    credits_held: creditsToNumber(overview.reserved),
    margin: overview.margin === null ? null : creditsToNumber(overview.margin),
    jobs: overview.openJobs.map(({ kind, status, count }) => ({ kind, status, count })),
    oldest_queued_job_age_s:
      oldestQueuedAt === null ? null : Math.max(0, (now.getTime() - oldestQueuedAt.getTime()) / 1000),
    transcriptions: overview.openTranscriptions,
    books: books === undefined ? null : { checked_at: unixSeconds(books.checkedAt), balanced: books.balanced },
    accounts: { total: overview.accounts, suspended: overview.suspendedAccounts },
  };
}

function healthView({ health, catalogue: { snapshot } }: HttpDeps) {
  const targets = snapshot.document.upstreams.flatMap(({ id }) => [
    { upstream_id: id, model: null },
    ...snapshot.wireModels(id).map((model) => ({ upstream_id: id, model })),
  ]);
  return {
    open_breakers: targets.filter(
      ({ upstream_id, model }) => health.view(upstream_id, model ?? undefined).state !== 'closed',
    ),
    models_without_candidate: health.modelsWithoutCandidate(snapshot),
  };
}

function midnight(now: Date): Date {
  return new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`);
}

/** An object that is never stored is looked for: a store that answers that there is none is there. */
async function storageState(objects: ObjectStore): Promise<'ok' | 'unavailable'> {
  const late = Promise.withResolvers<'unavailable'>();
  const timer = setTimeout(() => late.resolve('unavailable'), HEALTH_PROBE_TIMEOUT_MS);
  const looking = objects.read(PROBE_KEY).then(
    () => 'ok' as const,
    () => 'unavailable' as const,
  );
  try {
    return await Promise.race([looking, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const PROBE_KEY = 'probe/never-stored';

import { z } from 'zod';
import { countDue } from '../../jobs/index.ts';
import { verdicts } from '../../ledger/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import type { Stopping } from '../edge/stopping.ts';
import { cachedLook } from './cached-look.ts';

const healthSchema = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    db: z.enum(['ok', 'unavailable']),
    outbox_pending: z.int(),
    cleanup_running: z.boolean(),
    cleanup_pending: z.int(),
    cleanup_oldest_due_age_s: z.number(),
    warnings: z.array(z.string()).describe('Conditions that an operator should know of.'),
  })
  .meta({ id: 'Health' });

export function healthRoutes(routes: Routes, deps: HttpDeps, stopping: Stopping): void {
  const probe = cachedLook(() => look(deps), NOTHING_FOUND);
  routes.add(
    {
      method: 'GET',
      path: '/healthz',
      summary: 'Whether this process can serve',
      access: 'public',
      head: true,
      answers: { 200: healthSchema, 503: healthSchema },
    },
    async ({ reply }) => {
      const { booksBalance, ...read } = await probe();
      const database = deps.writeProbe.problem === undefined ? read : { ...read, db: 'unavailable' as const };
      const status = database.db === 'ok' && !stopping.begun ? 'ok' : 'degraded';
      const health: z.infer<typeof healthSchema> = {
        status,
        version: deps.version,
        ...database,
        cleanup_running: deps.cleanUp.isRunning,
        warnings: [...warnings(deps), ...(booksBalance ? [] : [IMBALANCE])],
      };
      if (status !== 'ok') reply.code(503).header('retry-after', '1');
      return reply.header('cache-control', 'no-store').send(health);
    },
  );
}

const IMBALANCE = 'The books do not balance: GET /api/admin/books names the first difference.';

function warnings({ db, reads, bus, throttle, writeProbe, health, catalogue, config }: HttpDeps): string[] {
  const { serving, working } = bus.peers;
  const lost = health.modelsWithoutCandidate(catalogue.snapshot);
  return [
    ...(writeProbe.problem === undefined ? [] : [`The database takes no writes: ${writeProbe.problem}.`]),
    ...(config.role === 'work' ? [] : limitWarnings(throttle, serving + 1)),
    ...(config.role === 'serve' && working === 0
      ? ['no process of this deployment works on jobs: start one whose TOLLGATE_ROLE is work or both']
      : []),
    ...lost.map((id) => `model ${id} has no candidate: every upstream of it is failing`),
    ...db.warnings,
    ...reads.warnings,
  ];
}

function limitWarnings({ status }: HttpDeps['throttle'], processes: number): string[] {
  switch (status.counting) {
    case 'process':
      return processes > 1 ? [`${processes} processes share this database, but each counts rate limits alone`] : [];
    case 'shared':
      return [];
    case 'local':
      return [`Redis is away: each of ${processes} processes takes its share of every rate limit`];
    case 'fail':
      return ['Redis is away: requests that have a rate limit are refused'];
  }
}

interface Found {
  readonly db: 'ok' | 'unavailable';
  /** Jobs that are due and not leased. */
  readonly outbox_pending: number;
  readonly cleanup_pending: number;
  readonly cleanup_oldest_due_age_s: number;
  /** As the last check found. */
  readonly booksBalance: boolean;
}

const NOTHING_FOUND: Found = {
  db: 'unavailable',
  outbox_pending: 0,
  cleanup_pending: 0,
  cleanup_oldest_due_age_s: 0,
  booksBalance: true,
};

async function look({ db, clock, cleanUp }: HttpDeps): Promise<Found> {
  const [due, backlog, verdict] = await Promise.all([
    countDue(db, clock.now()),
    cleanUp.backlog(),
    verdicts.lastVerdict(db),
  ]);
  return {
    db: 'ok',
    outbox_pending: due,
    cleanup_pending: backlog.pending,
    cleanup_oldest_due_age_s: backlog.oldestSeconds,
    booksBalance: verdict?.balanced !== false,
  };
}

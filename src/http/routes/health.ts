import { z } from 'zod';
import type { Db } from '../../db/index.ts';
import { HEALTH_CACHE_MS, HEALTH_PROBE_TIMEOUT_MS } from '../../limits.ts';
import type { HttpParts } from '../parts.ts';
import type { Routes } from '../route.ts';
import type { Stopping } from '../stopping.ts';

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

export function healthRoutes(routes: Routes, parts: HttpParts, stopping: Stopping): void {
  const probe = cachedProbe(parts.db);
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
      const db = (await probe()) ? 'ok' : 'unavailable';
      const status = db === 'ok' && !stopping.begun ? 'ok' : 'degraded';
      const health: z.infer<typeof healthSchema> = {
        status,
        version: parts.version,
        db,
        // Nothing is deferred and nothing expires yet.
        outbox_pending: 0,
        cleanup_running: false,
        cleanup_pending: 0,
        cleanup_oldest_due_age_s: 0,
        warnings: warnings(parts),
      };
      if (status !== 'ok') reply.code(503).header('retry-after', '1');
      return reply.header('cache-control', 'no-store').send(health);
    },
  );
}

function warnings({ bus, throttle }: HttpParts): string[] {
  return bus.peers > 0 && !throttle.shared
    ? [`${bus.peers + 1} processes share this database, but each counts rate limits alone`]
    : [];
}

/** Asks the database at most once a second, and waits for it at most one. */
function cachedProbe(db: Db): () => Promise<boolean> {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let answer: Promise<boolean> = Promise.resolve(false);
  return () => {
    const nowMs = performance.now();
    if (nowMs - askedAtMs > HEALTH_CACHE_MS) {
      askedAtMs = nowMs;
      answer = isAnswering(db);
    }
    return answer;
  };
}

async function isAnswering(db: Db): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), HEALTH_PROBE_TIMEOUT_MS);
  const asked = db.rows('select 1').then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([asked, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

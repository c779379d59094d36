import { z } from 'zod';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import type { Stopping } from '../edge/stopping.ts';
import { cachedLook } from './cached-look.ts';

const liveSchema = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Liveness' });

const readySchema = z
  .strictObject({
    status: z.enum(['ok', 'unready']),
    database: z.enum(['ok', 'unavailable']).describe('Whether it answers and takes writes.'),
    schema: z.enum(['ok', 'wrong', 'unknown']).describe('Whether every migration of this release is applied.'),
    configuration: z.enum(['ok', 'missing']),
    stopping: z.boolean(),
  })
  .meta({ id: 'Readiness' });

type Readiness = z.infer<typeof readySchema>;

/** For an orchestrator: whether to restart this process, and whether to send it requests. */
export function probeRoutes(routes: Routes, deps: HttpDeps, stopping: Stopping): void {
  routes.add(
    {
      method: 'GET',
      path: '/livez',
      summary: 'Whether this process lives',
      access: 'public',
      answers: { 200: liveSchema },
    },
    // Asks no engine: a restart of this process cures none of them.
    ({ reply }) => reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  const look = cachedLook(async (): Promise<Pick<Readiness, 'database' | 'schema'>> => {
    return { database: 'ok', schema: (await deps.schemaProbe.isApplied()) ? 'ok' : 'wrong' };
  }, NO_DATABASE);
  routes.add(
    {
      method: 'GET',
      path: '/readyz',
      summary: 'Whether to send requests to this process',
      access: 'public',
      answers: { 200: readySchema, 503: readySchema },
    },
    async ({ reply }) => {
      const found = deps.writeProbe.problem === undefined ? await look() : NO_DATABASE;
      const configuration = deps.catalogue.snapshot.version > 0n ? 'ok' : 'missing';
      const isReady = found.schema === 'ok' && configuration === 'ok' && !stopping.begun;
      const readiness: Readiness = {
        status: isReady ? 'ok' : 'unready',
        ...found,
        configuration,
        stopping: stopping.begun,
      };
      if (!isReady) reply.code(503).header('retry-after', '1');
      return reply.header('cache-control', 'no-store').send(readiness);
    },
  );
}

const NO_DATABASE = { database: 'unavailable', schema: 'unknown' } as const;

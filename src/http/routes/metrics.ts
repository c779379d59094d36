import type { FastifyInstance } from 'fastify';
import { bearerCheck } from '../../bearer.ts';
import type { Secret } from '../../config.ts';
import type { Exposition } from '../../signals/index.ts';
import { notFound } from '../edge/not-found.ts';

/**
 * `/metrics` on the callers' port. It is no part of the published contract: without the token there is nothing here, as
 * there is nothing under `/api/admin`.
 */
export function metricsRoute(server: FastifyInstance, exposition: Exposition, token: Secret | undefined): void {
  if (token === undefined) return;
  const isAllowed = bearerCheck(token);
  server.get('/metrics', async (request, reply) => {
    if (!isAllowed(request.headers.authorization)) throw notFound(request.method, request.url);
    return reply
      .header('cache-control', 'no-store')
      .type(exposition.contentType)
      .send(await exposition.text());
  });
}

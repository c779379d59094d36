import { z } from 'zod';
import { orPrecheckFailed } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { usageOf } from '../../reports/index.ts';
import { momentParam } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { usageCsv, usageRange } from '../views/usage.ts';

const usageQuery = z.object({
  from: momentParam.optional(),
  to: momentParam.optional().describe('Not included.'),
  group_by: z.enum(['day', 'model', 'key']).default('day'),
  format: z.enum(['json', 'csv']).default('json'),
});

const usageSchema = z
  .strictObject({
    object: z.literal('usage'),
    group_by: z.enum(['day', 'model', 'key']),
    from: z.int(),
    to: z.int(),
    data: z.array(z.strictObject({ group: z.string(), requests: z.int(), credits: z.number() })),
  })
  .meta({ id: 'Usage' });

export function usageRoutes(routes: Routes, { reads, clock }: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/v1/usage',
      summary: 'What was charged, added up by day, model or key',
      access: 'caller',
      scope: 'user:credits',
      query: usageQuery,
      answers: { 200: usageSchema },
      otherMedia: ['text/csv'],
      codes: ['precheck_failed'],
    },
    async ({ accountId, query, reply }) => {
      const range = usageRange(query.from, query.to, clock.now());
      const rows = await orPrecheckFailed(() => usageOf(reads, accountId, query.group_by, range));
      reply.header('cache-control', 'private, no-store');
      if (query.format === 'csv') return reply.type('text/csv; charset=utf-8').send(usageCsv(query.group_by, rows));
      return {
        object: 'usage',
        group_by: query.group_by,
        from: unixSeconds(range.from),
        to: unixSeconds(range.to),
        data: rows.map(({ group, requests, credits }) => ({ group, requests, credits: creditsToNumber(credits) })),
      };
    },
  );
}

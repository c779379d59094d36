import { z } from 'zod';
import { ofLedger } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import { type UsageRange, type UsageRow, usageOf } from '../../reports/index.ts';
import type { HttpParts } from '../parts.ts';
import type { Routes } from '../route.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_UNSTATED = 30;
const DAYS_MAX = 366;

/** Unix seconds, or a day in UTC. */
const moment = z
  .string()
  .regex(/^(\d{1,11}|\d{4}-\d{2}-\d{2})$/, { error: 'expected Unix seconds or a day as YYYY-MM-DD' })
  .transform((text) => new Date(text.includes('-') ? `${text}T00:00:00Z` : Number(text) * 1000))
  .refine((date) => !Number.isNaN(date.getTime()), { error: 'expected a day that exists' });

const usageQuery = z.object({
  from: moment.optional(),
  to: moment.optional().describe('Not included.'),
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

export function usageRoutes(routes: Routes, { db, clock }: HttpParts): void {
  routes.add(
    {
      method: 'GET',
      path: '/v1/usage',
      summary: 'What was charged, added up by day, model or key',
      access: 'caller',
      query: usageQuery,
      answers: { 200: usageSchema },
      otherMedia: ['text/csv'],
      codes: ['precheck_failed'],
    },
    async ({ caller, query, reply }) => {
      const range = rangeOf(query.from, query.to, clock.now());
      const rows = await ofLedger(() => usageOf(db, caller.accountId, query.group_by, range));
      reply.header('cache-control', 'private, no-store');
      if (query.format === 'csv') return reply.type('text/csv; charset=utf-8').send(csv(query.group_by, rows));
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

function rangeOf(from: Date | undefined, to: Date | undefined, now: Date): UsageRange {
  const end = to ?? new Date(now.getTime() + 1);
  const start = from ?? new Date(end.getTime() - DAYS_UNSTATED * DAY_MS);
  const days = (end.getTime() - start.getTime()) / DAY_MS;
  if (days > 0 && days <= DAYS_MAX) return { from: start, to: end };
  throw new ApiError('invalid_parameter', { message: `"from" must lie before "to", by at most ${DAYS_MAX} days.` });
}

function csv(grouping: string, rows: readonly UsageRow[]): string {
  const lines = rows.map(({ group, requests, credits }) => `${quoted(group)},${requests},${creditsToNumber(credits)}`);
  return [`${grouping},requests,credits`, ...lines, ''].join('\r\n');
}

/** A spreadsheet must take it for text, even if a model is called `=1+1`. */
function quoted(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

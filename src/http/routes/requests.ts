import { z } from 'zod';
import { orPrecheckFailed } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { findRequest, listRequests } from '../../reports/index.ts';
import { requestListQuery } from '../contract/request-queries.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { requestRecordSchema, requestRecordView } from '../views/admin.ts';
import { unitName } from '../views/ledger.ts';

const requestSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('request'),
    status: z.enum(['running', 'settled', 'refunded']),
    model: z.string(),
    endpoint: z.string(),
    usage: z.record(z.string(), z.unknown()).nullable().describe('The units that were charged.'),
    credits: z.number(),
    created_at: z.int(),
  })
  .meta({ id: 'Request' });

export function requestRoutes(routes: Routes, { db }: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/console/requests',
      summary: 'The calls and jobs of the account as the ledger knows them, newest first',
      access: 'session',
      role: 'viewer',
      query: requestListQuery,
      answers: { 200: listOf(requestRecordSchema) },
      codes: ['precheck_failed'],
    },
    ({ accountId, query: { limit, request_id, ...filter } }) => {
      const read = (most: number) =>
        orPrecheckFailed(() => listRequests(db, { ...filter, account: accountId, requestId: request_id, limit: most }));
      return page(limit, read, requestRecordView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/v1/requests/{request_id}',
      summary: 'What became of a call, by the id it was answered with',
      access: 'caller',
      scope: 'user:credits',
      console: 'read',
      answers: { 200: requestSchema },
      codes: ['request_not_found', 'precheck_failed'],
    },
    async ({ accountId, param }) => {
      const record = await orPrecheckFailed(() => findRequest(db, accountId, param('request_id')));
      if (record === undefined) throw new ApiError('request_not_found');
      return {
        id: record.requestId,
        object: 'request',
        status: record.state,
        model: record.model,
        endpoint: record.endpoint,
        usage: record.units && unitsView(record.units),
        credits: creditsToNumber(record.charged),
        created_at: unixSeconds(record.createdAt),
      };
    },
  );
}

function unitsView(units: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(units).map(([unit, count]) => [unitName(unit), count]));
}

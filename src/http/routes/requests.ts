import { z } from 'zod';
import { orPrecheckFailed } from '../../billing/index.ts';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import {
  findRecord,
  findRequest,
  listRequests,
  type RequestFilter,
  type RequestRecord,
  receiptOf,
  requestPages,
} from '../../reports/index.ts';
import { textParam } from '../contract/fields.ts';
import { requestListQuery } from '../contract/request-queries.ts';
import type { HttpDeps } from '../deps.ts';
import { sendCsv } from '../edge/csv.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { unitName } from '../views/ledger.ts';
import {
  OPERATOR_REQUEST_COLUMNS,
  operatorRequestDetailSchema,
  operatorRequestSchema,
  operatorRequestView,
  REQUEST_COLUMNS,
  receiptView,
  requestDetailSchema,
  requestSchema,
  requestView,
} from '../views/requests.ts';

const billedSchema = z
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

const FILE_NAME = 'requests.csv';

/** Activity: what was asked for and how it was answered, for accounts and for operators. */
export function requestRoutes(routes: Routes, deps: HttpDeps): void {
  const { db } = deps;
  routes.add(
    {
      method: 'GET',
      path: '/api/console/requests',
      summary: 'The requests of the account that asked for work, newest first',
      access: 'session',
      role: 'viewer',
      query: requestListQuery,
      answers: { 200: listOf(requestSchema) },
      otherMedia: ['text/csv'],
      codes: ['precheck_failed'],
    },
    async ({ accountId, reply, query: { limit, after, format, request_id, ...rest } }) => {
      const filter = { ...rest, account: accountId, requestId: request_id };
      await flushed(deps);
      if (format === 'csv') return sendCsv(reply, FILE_NAME, REQUEST_COLUMNS, exported(deps, filter));
      return page(limit, (most) => listed(deps, filter, after, most), requestView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/console/requests/{record_id}',
      summary: 'One request by its row’s id, with its receipt',
      access: 'session',
      role: 'viewer',
      answers: { 200: requestDetailSchema },
      codes: ['request_not_found', 'precheck_failed'],
    },
    async ({ accountId, param }) => {
      const { record, receipt } = await withReceipt(deps, accountId, param('record_id'));
      return { ...requestView(record), receipt };
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/v1/requests/{request_id}',
      summary: 'What became of a call, by the id it was answered with',
      access: 'caller',
      scope: 'user:credits',
      answers: { 200: billedSchema },
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

export function requestAdminRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/requests',
      summary: 'The requests of all accounts that asked for work, newest first',
      access: 'operator',
      query: requestListQuery.extend({ account: textParam.describe('The id of an account.') }),
      answers: { 200: listOf(operatorRequestSchema) },
      otherMedia: ['text/csv'],
      codes: ['precheck_failed'],
    },
    async ({ reply, query: { limit, after, format, request_id, ...rest } }) => {
      const filter = { ...rest, requestId: request_id };
      await flushed(deps);
      if (format === 'csv') return sendCsv(reply, FILE_NAME, OPERATOR_REQUEST_COLUMNS, exported(deps, filter));
      return page(limit, (most) => listed(deps, filter, after, most), operatorRequestView);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/requests/{record_id}',
      summary: 'One request of any account by its row’s id, with its receipt',
      access: 'operator',
      answers: { 200: operatorRequestDetailSchema },
      codes: ['request_not_found', 'precheck_failed'],
    },
    async ({ param }) => {
      const { record, receipt } = await withReceipt(deps, undefined, param('record_id'));
      return { ...operatorRequestView(record), receipt };
    },
  );
}

/** This process's own rows are written first: a caller that was just answered finds its request. */
function flushed({ requestLog }: HttpDeps): Promise<void> {
  return orPrecheckFailed(() => requestLog.flush());
}

function listed(
  { reads }: HttpDeps,
  filter: RequestFilter,
  after: string | undefined,
  limit: number,
): Promise<readonly RequestRecord[]> {
  return orPrecheckFailed(() => listRequests(reads, { ...filter, after, limit }));
}

function exported({ reads }: HttpDeps, filter: RequestFilter): AsyncIterator<readonly RequestRecord[]> {
  const pages = requestPages(reads, filter);
  return { next: () => orPrecheckFailed(() => pages.next()) };
}

async function withReceipt(deps: HttpDeps, account: string | undefined, id: string) {
  await flushed(deps);
  const record = await orPrecheckFailed(() => findRecord(deps.db, account, id));
  if (record === undefined) throw new ApiError('request_not_found');
  return { record, receipt: receiptView(await orPrecheckFailed(() => receiptOf(deps.db, record))) };
}

function unitsView(units: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(units).map(([unit, count]) => [unitName(unit), count]));
}

import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import type { CsvColumns } from '../../csv.ts';
import type { ChargeFactors } from '../../pricing/index.ts';
import type { Receipt, RequestRecord } from '../../reports/index.ts';
import { entrySchema, entryView, unitName } from './ledger.ts';

/** Rows of the request log and their receipts in wire shape. */

const requestFields = z.strictObject({
  id: z.string().describe('Unique, unlike the id that a caller may have given its request.'),
  object: z.literal('request'),
  request_id: z.string(),
  account_id: z.string(),
  key_id: z.string().nullable().describe('A key or an app’s grant; null in the console.'),
  key_name: z.string().nullable().describe('Of the key, or of the app.'),
  person_id: z.string().nullable().describe('Who ran it in the console.'),
  job_id: z.string().nullable(),
  model: z.string().nullable().describe('As it was asked for.'),
  endpoint: z.string(),
  status: z.int().describe('The HTTP status of the answer.'),
  state: z.enum(['running', 'settled', 'refunded']).nullable().describe('Null where nothing was held.'),
  error_code: z.string().nullable().describe('Of the answer, or of the job that came of it.'),
  duration_ms: z.int(),
  streamed: z.boolean(),
  requests: z.int().describe('Refusals by scope or rate are one row per key, route, code and minute.'),
  held: z.number().describe('What it holds now.'),
  credits: z.number().describe('What was charged.'),
  created_at: z.int().describe('Unix seconds.'),
});

export const requestSchema = requestFields.meta({ id: 'LoggedRequest' });

const operatorFields = requestFields.extend({
  upstream: z.string().nullable().describe('The upstream that was asked last.'),
  cost: z.number().nullable().describe('What it cost, in credits; null where its route states no cost.'),
});
export const operatorRequestSchema = operatorFields.meta({ id: 'RequestRecord' });

export function requestView(request: RequestRecord): z.infer<typeof requestSchema> {
  return {
    id: request.id,
    object: 'request',
    request_id: request.requestId,
    account_id: request.accountId,
    key_id: request.keyId,
    key_name: request.keyName,
    person_id: request.personId,
    job_id: request.jobId,
    model: request.model,
    endpoint: request.endpoint,
    status: request.status,
    state: request.state,
    error_code: request.errorCode,
    duration_ms: request.durationMs,
    streamed: request.isStreamed,
    requests: request.requests,
    held: creditsToNumber(request.held),
    credits: creditsToNumber(request.charged),
    created_at: unixSeconds(request.createdAt),
  };
}

export function operatorRequestView(request: RequestRecord): z.infer<typeof operatorRequestSchema> {
  const cost = request.cost === null ? null : creditsToNumber(request.cost);
  return { ...requestView(request), upstream: request.upstreamId, cost };
}

/** The columns of an export; new ones are only ever added behind. */
export const REQUEST_COLUMNS: CsvColumns<RequestRecord> = [
  ['created_at', ({ createdAt }) => createdAt.toISOString()],
  ['id', ({ id }) => id],
  ['request_id', ({ requestId }) => requestId],
  ['endpoint', ({ endpoint }) => endpoint],
  ['model', ({ model }) => model],
  ['key_id', ({ keyId }) => keyId],
  ['key_name', ({ keyName }) => keyName],
  ['person_id', ({ personId }) => personId],
  ['status', ({ status }) => status],
  ['state', ({ state }) => state],
  ['error_code', ({ errorCode }) => errorCode],
  ['duration_ms', ({ durationMs }) => durationMs],
  ['streamed', ({ isStreamed }) => isStreamed],
  ['requests', ({ requests }) => requests],
  ['held', ({ held }) => held],
  ['credits', ({ charged }) => charged],
  ['job_id', ({ jobId }) => jobId],
];

export const OPERATOR_REQUEST_COLUMNS: CsvColumns<RequestRecord> = [
  ...REQUEST_COLUMNS,
  ['account_id', ({ accountId }) => accountId],
  ['upstream', ({ upstreamId }) => upstreamId],
  ['cost', ({ cost }) => cost],
];

/** Of an estimate and of a receipt. */
export const factorsSchema = z.strictObject({
  mode: z.string(),
  once: z.number().describe('Credits charged once, which no ratio multiplies.'),
  units: z.array(z.strictObject({ unit: z.string(), count: z.number(), per: z.number(), rate: z.number() })),
  ratios: z.array(z.strictObject({ map: z.string(), key: z.string(), ratio: z.number() })),
});

export function factorsView({ mode, once, units, ratios }: ChargeFactors): z.infer<typeof factorsSchema> {
  return {
    mode,
    once,
    units: units.map((factor) => ({ ...factor, unit: unitName(factor.unit) })),
    ratios: [...ratios],
  };
}

const receiptSchema = z.strictObject({
  factors: factorsSchema
    .nullable()
    .describe('(sum of count / per × rate) × every ratio + once = charged. Null where no units were counted.'),
  held: z.number().describe('What was set aside at the beginning.'),
  charged: z.number(),
  returned: z.number().describe('How much of what was held came back.'),
  entries: z.array(entrySchema).describe('The ledger’s entries, oldest first.'),
});

const receipt = receiptSchema.nullable().describe('Null where nothing was held.');
export const requestDetailSchema = requestFields.extend({ receipt }).meta({ id: 'LoggedRequestDetail' });
export const operatorRequestDetailSchema = operatorFields.extend({ receipt }).meta({ id: 'RequestRecordDetail' });

export function receiptView(receipt: Receipt | undefined): z.infer<typeof receiptSchema> | null {
  if (receipt === undefined) return null;
  return {
    factors: receipt.factors === undefined ? null : factorsView(receipt.factors),
    held: creditsToNumber(receipt.held),
    charged: creditsToNumber(receipt.charged),
    returned: creditsToNumber(receipt.returned),
    entries: receipt.entries.map(entryView),
  };
}

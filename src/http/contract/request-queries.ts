import { z } from 'zod';
import { momentParam, pageQuery, textParam } from './fields.ts';

/** What lists of calls and jobs, and sums over them, can be narrowed to. */

export const callFilters = {
  key: textParam.describe('The id of a key or of an app’s grant, or `console`.'),
  model: textParam,
  endpoint: textParam,
};

export const callListQuery = pageQuery.extend({
  ...callFilters,
  request_id: textParam,
  since: momentParam.optional(),
  until: momentParam.optional().describe('Not included.'),
});

export const formatParam = z
  .enum(['json', 'csv'])
  .default('json')
  .describe('`csv` is the whole range at once, whatever `limit` and `after` say.');

export const requestListQuery = callListQuery.extend({
  status: z.enum(['ok', 'error']).optional().describe('`error`: answered with one, or its job has failed.'),
  state: z.enum(['running', 'settled', 'refunded']).optional().describe('Of what was held for it.'),
  code: textParam.describe('The error code of the answer or the job.'),
  format: formatParam,
});

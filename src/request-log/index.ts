/**
 * The request log: one row for each authenticated request that asked for work, refused ones included. Rows are gathered in
 * memory and written behind in batches, so that no request waits for its own. Hides batching, its bounds, and how a flood of
 * refusals becomes few rows. What things cost stands in the ledger and never here.
 */
export type { LoggedEndpoint, RequestLine } from './line.ts';
export { RequestLog } from './request-log.ts';
export { forgetRequests } from './store.ts';
export { newTrace, type RequestTrace } from './trace.ts';

/** What was spent, for accounts and operators: reads over the ledger's tables, which this folder never writes. */
export { type AccountFigures, figuresOf } from './accounts.ts';
export { listRequests, type RequestRecord } from './requests.ts';
export { findRequest, spentByKeys, type UsageRange, type UsageRow, usageOf, usageOfAll } from './usage.ts';

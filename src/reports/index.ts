/**
 * What was asked for and spent, for accounts and operators: reads over the request log and the ledger's tables, which this
 * folder never writes.
 */
export { type AccountFigures, figuresOf } from './accounts.ts';
export { type Receipt, receiptOf } from './receipt.ts';
export { findRecord, listRequests, type RequestFilter, type RequestRecord, requestPages } from './requests.ts';
export { findRequest, spentByKeys, type UsageRange, type UsageRow, usageOf } from './usage.ts';
export {
  SPLITS,
  USAGE_GROUPINGS,
  type UsageDivision,
  type UsageReportRow,
  usageReport,
} from './usage-report.ts';

/**
 * What was asked for and spent, for accounts and operators: reads over the request log, the ledger's tables and
 * open work, which this folder never writes.
 */
export { type AccountFigures, figuresOf } from './accounts.ts';
export { type Backlog, readBacklog } from './backlog.ts';
export { type Overview, readOverview } from './overview.ts';
export { type Receipt, receiptOf } from './receipt.ts';
export { findRecord, listRequests, type RequestFilter, type RequestRecord, requestPages } from './requests.ts';
export { type UpstreamUsageRow, upstreamUsage } from './upstream-usage.ts';
export { findRequest, type KeySpending, spendingOfKeys, type UsageRange, type UsageRow, usageOf } from './usage.ts';
export {
  OPERATOR_GROUPINGS,
  SPLITS,
  USAGE_GROUPINGS,
  type UsageDivision,
  type UsageReportRow,
  usageReport,
} from './usage-report.ts';

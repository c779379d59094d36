/** What was spent, for whoever asks: reads over the ledger's tables, which this folder never writes. */
export { findRequest, spentByKeys, type UsageRange, type UsageRow, usageOf } from './usage.ts';

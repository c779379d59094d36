/**
 * Credits: grants, reservations, and the append-only entries from which every balance follows.
 * Hides how grants are split and spent, how concurrent calls share one transaction, and how a dead process's
 * reservations are ended. The rules themselves are SQL functions, in migrations/0002_ledger.sql.
 */
export { LedgerBatch } from './batch.ts';
export { books } from './books.ts';
export { endAbandoned, extendLeases, LEASE_MS, lapseExpired, recordKnown } from './leases.ts';
export { balanceOf, type Entry, grant, listEntries, listGrants, refund, reserve, settle } from './ledger.ts';
export { type Admission, type Ending } from './members.ts';
export { type Grant, type NewReservation } from './store.ts';
export { spentByKeys, type UsageGrouping, type UsageRange, type UsageRow, usageOf } from './usage.ts';

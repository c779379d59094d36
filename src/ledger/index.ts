/**
 * Credits: grants, reservations, and the append-only entries from which every balance follows.
 * Hides how grants are split and spent, group commit, purses and their journal, and how a dead process's reservations are
 * ended. The rules themselves are SQL functions, in migrations/0006_ledger.sql to 0009_purses.sql. docs/ledger.md explains
 * it on one page.
 */
export * as verdicts from './book-verdicts.ts';
export { books } from './books.ts';
export { CallLedger } from './call-ledger.ts';
export { postJournal } from './journal-store.ts';
export { endAbandoned, lapseExpired } from './leases.ts';
export {
  balanceOf,
  type CreditRefusal,
  correctGrant,
  type Ending,
  type Entry,
  type EntryFilter,
  endAll,
  type Grant,
  type GrantChange,
  grant,
  listEntries,
  listGrants,
  lockAccounts,
  type NewReservation,
  type Page,
  refund,
  reserveAll,
  settle,
} from './ledger.ts';
export type { Admission } from './outcomes.ts';
export type { Balance } from './store.ts';

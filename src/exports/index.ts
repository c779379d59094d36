/**
 * The ledger as files: one per day of the UTC calendar, CSV in gzip, in the object store. Hides how a day is cut into
 * statements that each read a little, the lease under which one process writes a day, and that a day may be written again.
 */
export { type ExportedDay, findExport, listExports } from './exports-store.ts';
export { entriesOfDay, gzipped } from './ledger-csv.ts';
export { LedgerExport } from './ledger-export.ts';

/** Bounds of rows that are kept, listed, exported and deleted. */

const MIB = 1024 * 1024;

// Jobs.
/** Jobs that have ended are kept for so many days at least: longer than what they made, and than their idempotency keys. */
export const JOB_DAYS_MIN = 32;
export const JOB_DAYS_MAX = 36_500;

// Request log.
/** Lines that wait to be written; more are dropped and counted. */
export const REQUEST_LINES_HELD_MAX = 20_000;
export const REQUEST_LINES_PER_STATEMENT = 500;
export const REQUEST_LOG_DAYS_MAX = 3_650;

// Books.
/** Imbalances that a check of the books names. */
export const BOOK_DIFFERENCES_MAX = 1_000;
/** What one statement of a check reads. */
export const BOOK_ENTRIES_PER_READ = 20_000n;
export const BOOK_ACCOUNTS_PER_READ = 10_000;
export const BOOK_ROWS_PER_READ = 10_000;
/** What a check may read while a caller waits for its answer: a minute or so. */
export const BOOK_ENTRIES_PER_REQUEST_MAX = 1_000_000;
/** The upper bound of the setting for how often they are checked by the clock. */
export const BOOKS_MINUTES_MAX = 1_440;
/** How long a process has the check to itself without extending its lease. */
export const BOOKS_LEASE_MS = 60_000;

// Reports.
/** What one statement of the roll-up of usage reads, and after how many it rests: a process that stops waits for them. */
export const USAGE_ROUNDS = { entries: 20_000, accounts: 1_000, most: 10 } as const;
/** Rows that one statement of an export reads. */
export const EXPORT_ROWS_PER_READ = 1_000;
/** Of a day of the ledger, where more than that have one time: of a million, each further statement sorts all. */
export const EXPORT_ENTRIES_PER_READ = 5_000;
/** Of one day of the ledger, compressed. */
export const EXPORT_BYTES_MAX = 50 * 1024 * MIB;
/** After a day's end its entries are there, unless a process's clock is behind by more than this. */
export const EXPORT_GRACE_MS = 3_600_000;
/** How long a process has a day to itself without extending its lease. */
export const EXPORT_LEASE_MS = 60_000;

/** Bounds of the database, of several servers of it and of a replica. */

export const DB_CONNECT_TIMEOUT_MS = 1_500;
/** For a start, before which the database has not been heard of: the machine may be starting as a whole. */
export const DB_FIRST_CONNECT_TIMEOUT_MS = 15_000;
export const DB_STATEMENT_TIMEOUT_MS = 10_000;
/** Of one that has whole tables before it: of a migration, a backup, the books, the ledger as files. */
export const DB_LONG_STATEMENT_MS = 600_000;
export const DB_LOCK_TIMEOUT_MS = 3_000;
/** A process that stands still in a transaction keeps others from what it has locked for no longer than this. */
export const DB_TRANSACTION_IDLE_MS_MAX = 5_000;

/** Statements of lists and reports at once, of 16 connections: calls find one free however many reports are asked for. */
export const DB_REPORTS_MAX = 4;

/** Of several database servers: how long the others are waited for once one has answered that suits. */
export const SERVER_GRACE_MS = 250;
/** How often the servers that are not in use are inspected. */
export const SERVER_WATCH_MS = 5_000;
/** How often the replica's lag is looked at. */
export const REPLICA_LOOK_MS = 1_000;
/** How often, at most, all connections to a server that refuses writes are replaced. */
export const DEMOTION_EVERY_MS = 1_000;
export const REPLICA_LAG_SECONDS_MAX = 3_600;

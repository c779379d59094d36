/**
 * PostgreSQL: a pool, transactions, migrations, and the bus on which processes tell each other what changed.
 * Hides the driver, which of several servers takes writes, prepared statements, retries after a deadlock, and which of
 * the many failures mean "the database is away". SQL itself is written in each folder's store.ts.
 */
export { announce, Bus, type Topic } from './bus.ts';
export { type Db, type DbAddress, openDb, type PooledDb, type Queries, type Tx } from './db.ts';
export { DatabaseUnavailable, isCheckViolation, isUniqueViolation } from './errors.ts';
export { GroupCommit } from './group-commit.ts';
export { MigrationError, migrate, migrationState } from './migrate.ts';
export * as migrations from './migrations.ts';
export * as probes from './probes.ts';
export { ReplicaReads } from './replica-reads.ts';
export { retryWhileUnavailable } from './retry-while-unavailable.ts';
export { TestClock } from './test-clock.ts';
export { whileBusy } from './while-busy.ts';

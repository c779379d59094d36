/** How a database stands to the migrations of this release, for what does not migrate it. */
export { type PlannedMigration, planMigrations, refuseOtherHistory, requireMigrated } from './migrate.ts';

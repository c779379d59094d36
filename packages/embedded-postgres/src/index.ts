/**
 * The embedded PostgreSQL: a real server from npm binaries, run as a child process under the data folder.
 *
 * Hides how the binaries are found, as which operating-system user they run, how the cluster is made so that a crash
 * leaves no half of one, how a server left behind by a killed gateway is adopted, and how a dead one is brought back.
 * Outside there is an address to connect to and `stop`, and whether a server runs already.
 */

export { type EmbeddedState, findEmbeddedPostgres } from './find.ts';
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './server.ts';
export { PostgresStartError } from './start-error.ts';

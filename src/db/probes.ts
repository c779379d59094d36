/** What tells the health and readiness routes how the database is. */
export { SchemaProbe } from './schema-probe.ts';
export { WriteProbe } from './write-probe.ts';

/** What tells the health and readiness routes, a start and the doctor how the database is. */
export { refuseSharedSessions } from './pooling.ts';
export { SchemaProbe } from './schema-probe.ts';
export { WriteProbe } from './write-probe.ts';

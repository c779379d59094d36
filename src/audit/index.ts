/** The record of every change to the deployment, written with the change itself. */
export { type Actor, type AuditRow, listChanges, recordChange } from './audit.ts';

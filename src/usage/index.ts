/**
 * Usage by the hour, for reports. Hides that charges are rolled up, how far that has got, and how a report adds what is not.
 */
export { hourFrom, rollUpUsage, usageBetween, wholeHours } from './usage-hours.ts';

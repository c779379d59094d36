/** The edge moved by the clock: what is done now and then, without a request. */
export { startDuties } from './duties.ts';
export { JobLoop } from './job-loop.ts';

/** The edge moved by the clock: what is done now and then, whether or not anybody calls. */
export { startDuties } from './duties.ts';
export { JobLoop } from './job-loop.ts';

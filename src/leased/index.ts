/**
 * The leased record that jobs and transcriptions share: admitted with its credits in one transaction by group commit,
 * worked on by one process at a time, taken over when that process dies, polled at its upstream. Hides how batches are
 * admitted, what is in hand, and how a process lets go of it when it stops. The tables and what a step does are the
 * callers' own; every write of theirs names the fence, and throws LostLease where it has moved.
 */
export { type Admit, type Applicant, groupAdmission, keepInputs } from './admission.ts';
export { type Fenced, LostLease, requireLeased } from './fence.ts';
export { LeasedWork } from './leased-work.ts';
export { pollTask } from './poll-task.ts';

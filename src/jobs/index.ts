/**
 * Jobs: requests whose results take a while. Hides how one is admitted with its credits and its key in one transaction,
 * how workers share the queue without doing anything twice, and how results get into the object store.
 * `nextStep` in job.ts is the whole life of a job; `end.ts` is the only way out of it.
 */
export { jobAdmission } from './admission.ts';
export { type CreateDeps, createJob } from './create.ts';
export type { JobDeps } from './deps.ts';
export { Engine } from './engine.ts';
export { JOB_FAULTS } from './faults.ts';
export { forgetJobs } from './forget-jobs.ts';
export { isTerminal, type Job } from './job.ts';
export { forgetKeys } from './keys-store.ts';
export { type JobRecord, listAllJobs } from './operator-store.ts';
export { inlineRules } from './prepare.ts';
export { countDue } from './queue-store.ts';
export { getAssets, getJob, type LinkedAsset, listJobs } from './read.ts';
export { getJobRequest, type JobRequest } from './read-request.ts';
export * as results from './results.ts';
export * as videos from './videos.ts';
export type { VideoJob } from './videos-store.ts';
export { JobWatches } from './watch.ts';

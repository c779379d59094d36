/** Bounds of requests that wait for a job. */

/** What `Prefer: wait` of a create call asks beyond this is not waited for. */
export const PREFERRED_WAIT_SECONDS_MAX = 60;
/** A retry of a client library that counts its attempts joins the job of one that is not older than this. */
export const RETRY_JOINS_MS = 15 * 60_000;
/** A request for pictures is silent for so long, with its status still open; from then on white space keeps it alive. */
export const SILENT_WAIT_MS = 30_000;
export const WHITE_SPACE_EVERY_MS = 5_000;
/** The upper bound of the setting for how long a request waits for its pictures. */
export const IMAGE_WAIT_SECONDS_MAX = 3_600;
/** Requests of a process that wait for the end of a job. */
export const WATCHED_JOBS_MAX = 1_000;

import type { FastifyRequest } from 'fastify';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { JOB_FAULTS, type Job } from '../../jobs/index.ts';
import type { HttpDeps } from '../deps.ts';
import { apiErrorOf } from '../edge/api-error.ts';
import { countsRetries } from '../edge/client-library.ts';

/** What a request that waits for its job can be told, beside what its creation can be refused with. */
export const WAIT_CODES = [
  'job_timeout',
  'job_not_found',
  'upstream_failed',
  'upstream_rejected',
  'content_rejected',
  'no_available_provider',
  'request_timeout',
  'internal_error',
  'job_service_unavailable',
  'database_unavailable',
  'shutting_down',
  'too_many_concurrent_requests',
] as const satisfies readonly ErrorCode[];

/** Of these, those that tell a client library to try again unless they come with status 400. */
export const WAIT_CODES_AS_400 = [
  'job_timeout',
  'upstream_failed',
  'no_available_provider',
  'request_timeout',
  'internal_error',
  'job_service_unavailable',
  'database_unavailable',
  'shutting_down',
] as const satisfies readonly ErrorCode[];

export function hasEnded({ finishedAt }: Job): boolean {
  return finishedAt !== null;
}

/** Watches the job until then: it is as it was last seen, where it has not ended. */
export async function watchUntil(deps: HttpDeps, job: Job, untilMs: number, signal: AbortSignal): Promise<Job> {
  const { jobWatches, clock } = deps;
  let latest = job;
  for (let left = untilMs - clock.nowMs(); left > 0 && !hasEnded(latest); left = untilMs - clock.nowMs()) {
    if (signal.aborted || jobWatches.isStopping) break;
    latest = await jobWatches.wait(latest, left, signal);
  }
  return latest;
}

/** Throws unless the job has made what it was asked for. */
export function requireSucceeded({ jobWatches }: HttpDeps, job: Job): void {
  if (job.status === 'succeeded') return;
  if (hasEnded(job)) throw failureOf(job);
  // A library that counts its retries finds the job again at another process.
  if (jobWatches.isStopping) throw new ApiError('shutting_down');
  throw new ApiError('job_timeout', {
    message: `Job ${job.id} has not ended in the time that a request waits for it. It goes on: read it at /v1/jobs/${job.id}.`,
    headers: { 'x-should-retry': 'false' },
  });
}

const CODE_OF_FAULT = {
  queue_expired: 'no_available_provider',
  upstream_failed: 'upstream_failed',
  upstream_rejected: 'upstream_rejected',
  content_rejected: 'content_rejected',
  undeliverable_output: 'upstream_failed',
  upstream_timeout: 'request_timeout',
  internal_error: 'internal_error',
} as const satisfies Record<keyof typeof JOB_FAULTS, (typeof WAIT_CODES)[number]>;

/** A retry would join the very job that has failed. */
function failureOf({ errorCode }: Job): ApiError {
  const fault = errorCode ?? 'internal_error';
  return new ApiError(CODE_OF_FAULT[fault], { message: JOB_FAULTS[fault], headers: { 'x-should-retry': 'false' } });
}

/**
 * An error as it is told once a job exists. A client library that does not count its retries would make a second job where
 * it is told to try again, so it is told with status 400.
 */
export function errorWithJob(request: FastifyRequest, thrown: unknown): ApiError {
  const error = apiErrorOf(thrown instanceof Error ? thrown : new Error(String(thrown)));
  if (countsRetries(request) || !isRetried(error.status)) return error;
  const { code, message, param, cause, headers } = error;
  return new ApiError(code, { message, param, cause, status: 400, headers: { ...headers, 'x-should-retry': 'false' } });
}

function isRetried(status: number): boolean {
  return status >= 500 || [408, 409, 429].includes(status);
}

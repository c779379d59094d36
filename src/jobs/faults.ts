/** Why a job brought nothing, and what its owner is told. */
export const JOB_FAULTS = {
  queue_expired: 'No upstream took the job within ten minutes. Nothing was charged.',
  upstream_failed: 'The model failed to make a result. Nothing was charged.',
  upstream_rejected: 'The model does not take this request. Nothing was charged.',
  content_rejected: 'The request was refused by the content rules of the model. Nothing was charged.',
  undeliverable_output: 'The model made something that cannot be delivered. Nothing was charged.',
  upstream_timeout: 'The model did not finish in time. Nothing was charged.',
  internal_error: 'Something went wrong on our side. Nothing was charged.',
} as const;

export type JobFault = keyof typeof JOB_FAULTS;

import type { ErrorCode } from '../errors.ts';

/** What a model can do about a refusal, where the message of the code does not say it in the words of the tools. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  insufficient_credits:
    'Compare prices with list_models and estimate, make less, or ask the account’s owner for credits.',
  model_not_found: 'Call list_models for the models that there are.',
  no_capable_provider: 'Leave out optional arguments, or choose another model of list_models.',
  no_available_provider: 'Try again in a moment, or choose another model of list_models.',
  media_open_job_capacity: 'Wait for a running job with get_job, then call again.',
  content_rejected: 'Change the prompt.',
  job_not_found: 'Check the id: it begins with job_ or, of a transcription, req_.',
};

/** A sentence and a space, or nothing. */
export function adviceFor(code: ErrorCode): string {
  const advice = ADVICE[code];
  return advice === undefined ? '' : `${advice} `;
}

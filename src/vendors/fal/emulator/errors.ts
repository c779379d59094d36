/** What the vendor answers to a request, or about a run, that went wrong. */
export interface Failure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** In one of its two shapes: a text with `error_type`, or a list. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Every row of the vendor's tables of errors. */
export const ERRORS = {
  badRequest: ofRequest(400, 'bad_request', 'Bad request.'),
  invalid: ofModel(422, 'less_than_equal', 'Input should be less than or equal to 4'),
  policy: ofModel(422, 'content_policy_violation', 'The content was flagged by a content checker.'),
  noMedia: ofModel(422, 'no_media_generated', 'The model did not generate the expected output.'),
  downstream: ofModel(400, 'downstream_service_error', 'Downstream service error.'),
  badKey: { status: 401, body: { detail: 'Authentication is required to access this application.' } },
  locked: { status: 403, body: { detail: 'User is locked. Reason: Exhausted balance.' } },
  lost: { status: 404, body: { detail: 'Request not found.' } },
  throttled: { status: 429, body: { detail: 'Too many requests.' } },
  cancelled: ofRequest(499, 'client_cancelled', 'The client cancelled the request.'),
  disconnected: ofRequest(499, 'client_disconnected', 'The client disconnected.'),
  runnerBroken: ofRequest(500, 'runner_server_error', 'The runner failed.'),
  broken: ofRequest(500, 'internal_error', 'Internal error.'),
  modelBroken: ofModel(500, 'internal_server_error', 'Internal server error.'),
  incomplete: ofRequest(502, 'runner_incomplete_response', 'The runner broke off.'),
  unscheduled: ofRequest(503, 'runner_scheduling_failure', 'No runner could be allocated.'),
  runnerGone: ofRequest(503, 'runner_disconnected', 'The runner disconnected.'),
  tooSlow: ofRequest(504, 'request_timeout', 'Request timed out.'),
  startedTooSlowly: ofRequest(504, 'startup_timeout', 'The runner did not start in time.'),
  madeTooSlowly: ofModel(504, 'generation_timeout', 'Generation timeout.'),
  /** The time elapsed that the request itself set for its beginning. */
  notBegun: {
    ...ofRequest(504, 'request_timeout', 'Request timed out.'),
    headers: { 'x-fal-error-type': 'request_timeout', 'x-fal-request-timeout-type': 'user' },
  },
} as const satisfies Record<string, Failure>;

export type ErrorName = keyof typeof ERRORS;

function ofRequest(status: number, type: string, detail: string) {
  return { status, headers: { 'x-fal-error-type': type }, body: { detail, error_type: type } };
}

function ofModel(status: number, type: string, msg: string) {
  return {
    status,
    headers: { 'x-fal-retryable': 'false' },
    body: { detail: [detailOf(type, msg, ['body', 'prompt'])] },
  };
}

export function detailOf(type: string, msg: string, loc: readonly (string | number)[], input?: unknown) {
  return { loc, msg, type, url: `https://docs.fal.ai/errors#${type}`, ...(input !== undefined && { input }) };
}

import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { failed } from '../kit/faults.ts';
import { objectsAt, stringAt } from '../kit/json.ts';
import type { TaskAnswer } from '../kit/queue.ts';
import { defineWire } from '../kit/wire.ts';
import type { Progress } from '../vendor.ts';

const POLICY = 'content_policy_violation';

/** Errors are known by the name that the vendor gives them; the status alone would mislead. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Key ${apiKey}` }),
  faults: {
    // Of several, the one that blames the content counts.
    codesIn: (body) => namesIn(body).sort((one, other) => Number(other === POLICY) - Number(one === POLICY)),
    codes: {
      policy: [POLICY],
      client: ['bad_request'],
      server: [
        // Of the request.
        ...['internal_error', 'request_timeout', 'startup_timeout', 'client_cancelled', 'client_disconnected'],
        // Of the model, or of whom it asks in turn.
        ...['internal_server_error', 'generation_timeout', 'no_media_generated'],
        ...['downstream_service_error', 'downstream_service_unavailable'],
      ],
    },
    patterns: [[/^runner_/, 'server']],
  },
});

/** All that tells something of the task itself. */
export const TELLING: readonly number[] = [400, 404, 410, 422, 499, 500, 502, 503, 504];

const STILL_RUNNING = 'Request is still in progress';

/**
 * What an answer that is no success says of a task. The status of a task only ever fails to be read; its result is also
 * where a run tells that it failed. Throws UpstreamError where asking again may help.
 */
export function verdictOf(
  answer: TaskAnswer,
  step: 'status' | 'result',
): Exclude<Progress, { readonly state: 'succeeded' }> {
  const { status, body = {} } = answer;
  if (body.detail === STILL_RUNNING) return { state: 'running' };
  const fault = wire.faults.ofBody(body) ?? (status === 400 || status === 422 ? 'client' : 'server');
  const isFinal = status < 500 || isStartTimeout(answer) || (step === 'result' && isOfTheRun(answer));
  if (isFinal) return failed(fault, detailOf(status, body));
  throw new UpstreamError('server', detailOf(status, body));
}

/** The work did not begin within the time that was asked for. */
function isStartTimeout({ status, headers }: TaskAnswer): boolean {
  return status === 504 && headers['x-fal-request-timeout-type'] === 'user';
}

/** A gateway on the way fails without naming an error; the vendor's own clients take a plain 500 for final too. */
function isOfTheRun({ status, headers, body = {} }: TaskAnswer): boolean {
  return status === 500 || headers['x-fal-error-type'] !== undefined || namesIn(body).length > 0;
}

/** In either of the vendor's shapes. */
function namesIn(body: JsonObject): string[] {
  const names = [stringAt(body, 'error_type'), ...objectsAt(body, 'detail').map((detail) => stringAt(detail, 'type'))];
  return names.filter((name) => name !== undefined);
}

/** For the log: what and where, without the input that the vendor repeats. */
function detailOf(status: number, body: JsonObject): string {
  const details = objectsAt(body, 'detail').map(({ loc, type, msg }) => ({ loc, type, msg }));
  const error = details.length > 0 ? details : { detail: body.detail, error_type: body.error_type };
  return `status ${status}: ${JSON.stringify(error)}`;
}

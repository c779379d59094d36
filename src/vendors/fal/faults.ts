import { type Fault, UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import { isList, isObject, stringAt } from '../kit/json.ts';
import type { Failed, Progress } from '../vendor.ts';

/** An answer about a task, whatever its status. */
export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined if it is no JSON object. */
  readonly body: JsonObject | undefined;
}

/** By the name that the vendor gives an error; its status alone would mislead. */
const FAULT_OF_NAME: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['content_policy_violation', 'policy'],
  ['bad_request', 'client'],
  // Of the request.
  ...named('server', ['internal_error', 'request_timeout', 'startup_timeout']),
  ...named('server', ['client_cancelled', 'client_disconnected']),
  // Of the model, or of whom it asks in turn.
  ...named('server', ['internal_server_error', 'generation_timeout', 'no_media_generated']),
  ...named('server', ['downstream_service_error', 'downstream_service_unavailable']),
]);

const STILL_RUNNING = 'Request is still in progress';

/** Reads a refusal in either of the vendor's shapes. Undefined leaves it to the status. */
export function faultOf(_status: number, body: JsonObject | undefined): Fault | undefined {
  const faults = namesIn(body).map(faultOfName);
  return faults.includes('policy') ? 'policy' : faults.find((fault) => fault !== undefined);
}

export function faultOfName(name: string): Fault | undefined {
  return name.startsWith('runner_') ? 'server' : FAULT_OF_NAME.get(name);
}

/**
 * What an answer that is no success says of a task. The status of a task only ever fails to be read; its result is also
 * where a run tells that it failed. Throws UpstreamError where asking again may help.
 */
export function verdictOf(told: Told, asked: 'status' | 'result'): Progress {
  const { status, body } = told;
  if (body?.detail === STILL_RUNNING) return { state: 'running' };
  const fault = faultOf(status, body) ?? (status === 400 || status === 422 ? 'client' : 'server');
  const isFinal = status < 500 || isOurTimeout(told) || (asked === 'result' && isOfTheRun(told));
  if (isFinal) return failed(fault, detailOf(told));
  throw new UpstreamError('server', detailOf(told));
}

const CODES: Partial<Record<Fault, Failed['code']>> = { client: 'upstream_rejected', policy: 'content_rejected' };

export function failed(fault: Fault, detail: string): Failed {
  const code = CODES[fault] ?? 'upstream_failed';
  return { state: 'failed', code, detail: detail.slice(0, UPSTREAM_ERROR_BYTES_MAX) };
}

/** The work did not begin within the time that was asked for. */
function isOurTimeout({ status, headers }: Told): boolean {
  return status === 504 && headers['x-fal-request-timeout-type'] === 'user';
}

/** A gateway on the way fails without naming an error; the vendor's own clients take a plain 500 for final too. */
function isOfTheRun({ status, headers, body }: Told): boolean {
  return status === 500 || headers['x-fal-error-type'] !== undefined || namesIn(body).length > 0;
}

function namesIn(body: JsonObject | undefined): string[] {
  const names = [stringAt(body, 'error_type'), ...detailsIn(body).map((detail) => stringAt(detail, 'type'))];
  return names.filter((name) => name !== undefined);
}

function detailsIn(body: JsonObject | undefined): JsonObject[] {
  return isList(body?.detail) ? body.detail.filter(isObject) : [];
}

/** For the log: what and where, without the input that the vendor repeats. */
function detailOf({ status, body }: Told): string {
  const details = detailsIn(body).map(({ loc, type, msg }) => ({ loc, type, msg }));
  const told = details.length > 0 ? details : { detail: body?.detail, error_type: body?.error_type };
  return `status ${status}: ${JSON.stringify(told)}`;
}

function named(fault: Fault, names: readonly string[]): [string, Fault][] {
  return names.map((name) => [name, fault]);
}

import type { IncomingHttpHeaders } from 'node:http';
import { objectIn } from '../../emulator/json.ts';
import { detailOf, type Failure } from './errors.ts';
import type { Model } from './model.ts';
import { MODELS } from './models.ts';

export interface IncomingCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** What a request is for. `app` is the model's owner and alias, with its namespace if it has one. */
export type Target =
  | { readonly step: 'submit'; readonly model: string; readonly app: string }
  | { readonly step: 'status' | 'result' | 'cancel'; readonly app: string; readonly id: string };

const APP = '(?:(?:workflows|comfy)/)?[\\w.-]+/[\\w.-]+';
const OF_TASK = new RegExp(`^/(${APP})/requests/([\\w-]+)(/status|/cancel)?$`);
const OF_MODEL = new RegExp(`^/((${APP})(?:/[\\w.-]+)*)$`);
const METHODS = { submit: 'POST', status: 'GET', result: 'GET', cancel: 'PUT' } as const;

/** Undefined: there is nothing at this path. A sub-path belongs to a submission only. */
export function targetOf(path: string): Target | undefined {
  const { pathname } = new URL(path, 'http://localhost');
  const [, app, id, end = ''] = OF_TASK.exec(pathname) ?? [];
  if (app !== undefined && id !== undefined) return { step: stepOf(end), app, id };
  const [, model, owner] = pathname.includes('/requests/') ? [] : (OF_MODEL.exec(pathname) ?? []);
  return model !== undefined && owner !== undefined ? { step: 'submit', model, app: owner } : undefined;
}

function stepOf(end: string): 'status' | 'result' | 'cancel' {
  if (end === '/status') return 'status';
  return end === '/cancel' ? 'cancel' : 'result';
}

/** Undefined if the vendor would take the request. */
export function refusalOf(call: IncomingCall, target: Target | undefined, apiKey: string): Failure | undefined {
  const { authorization } = call.headers;
  if (authorization !== `Key ${apiKey}`) {
    return refused(401, authorization === undefined ? 'Authentication is required.' : 'Invalid key.');
  }
  if (target === undefined) return refused(404, `Path ${call.path} not found`);
  if (call.method !== METHODS[target.step]) return refused(405, 'Method Not Allowed');
  return target.step === 'submit' ? refusalOfSubmit(call, target.model) : refusalOfQuery(call);
}

function refusalOfQuery({ path, bytes }: IncomingCall): Failure | undefined {
  const { searchParams } = new URL(path, 'http://localhost');
  const isKnown = [...searchParams].every(([name, value]) => name === 'logs' && ['0', '1'].includes(value));
  return isKnown && bytes.length === 0 ? undefined : refused(400, 'Unexpected query or body.');
}

function refusalOfSubmit({ headers, bytes }: IncomingCall, name: string): Failure | undefined {
  const model = MODELS.get(name);
  if (model === undefined) return refused(404, `Application '${name}' not found`);
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim() !== 'application/json') return refused(415, `Unsupported content type: ${type}`);
  const timeout = headers['x-fal-request-timeout'];
  if (timeout !== undefined && !isTimeout(String(timeout))) return refused(400, 'Invalid request timeout.');
  const priority = headers['x-fal-queue-priority'] ?? 'normal';
  if (priority !== 'normal' && priority !== 'low') return refused(400, 'Invalid queue priority.');
  return refusalOfInput(bytes, model);
}

function isTimeout(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) > 1;
}

function refusalOfInput(bytes: Buffer, { fields, required }: Model): Failure | undefined {
  const input = objectIn(bytes);
  if (input === undefined) return invalid([detailOf('json_invalid', 'JSON decode error', ['body'])]);
  const missing = required.filter((field) => input[field] === undefined);
  const wrong = Object.entries(input).flatMap(([field, value]) => {
    const check = fields.get(field);
    if (check === undefined) {
      return [detailOf('extra_forbidden', 'Extra inputs are not permitted', ['body', field], value)];
    }
    const complaint = check.look(value);
    if (complaint === undefined) return [];
    return [{ ...detailOf(complaint.type, complaint.msg, ['body', field], value), ctx: complaint.ctx }];
  });
  const details = [...missing.map((field) => detailOf('missing', 'Field required', ['body', field])), ...wrong];
  return details.length === 0 ? undefined : invalid(details);
}

function invalid(detail: readonly object[]): Failure {
  return { status: 422, headers: { 'x-fal-retryable': 'false' }, body: { detail } };
}

function refused(status: number, detail: string): Failure {
  return { status, body: { detail } };
}

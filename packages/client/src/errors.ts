import type { ErrorCode, Job } from './contract.ts';

/** No answer came, or not all of it: the gateway could not be reached, or the connection was cut. */
export type ConnectionCode = 'connection_failed' | 'stream_cut';

interface ErrorDetails {
  readonly code: string;
  readonly status?: number | undefined;
  readonly param?: string | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** Every failure of a call but an abort, which rejects with the signal's own reason. */
export class TollgateError extends Error {
  override readonly name: string = 'TollgateError';
  /** What to decide by; the message is for people. */
  readonly code: ErrorCode | ConnectionCode | (string & {});
  /** Undefined where there was no answer. */
  readonly status: number | undefined;
  /** The field at fault, such as `reference_images[1]`, where one is known. */
  readonly param: string | undefined;
  /** By this the operator of the gateway finds the request. */
  readonly requestId: string | undefined;

  constructor(message: string, { code, status, param, requestId, cause }: ErrorDetails) {
    super(requestId === undefined ? message : `${message} (${requestId})`, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
    this.param = param;
    this.requestId = requestId;
  }
}

/** A job that ended without a result. Its code says why; what it had reserved was given back. */
export class JobError extends TollgateError {
  override readonly name = 'JobError';
  readonly job: Job;

  constructor(job: Job) {
    const code = job.error_code ?? job.status;
    super(`The job ${job.id} has ended as ${job.status}: ${job.error ?? code}`, { code });
    this.job = job;
  }
}

/** The error of an answer. A proxy in front of the gateway may have written it, so nothing about its shape is sure. */
export function errorOfAnswer(status: number, requestId: string | undefined, body: unknown): TollgateError {
  const { message, code, param } = envelopeIn(body);
  const fallback = `The gateway answered with status ${status}.`;
  return new TollgateError(message ?? fallback, { code: code ?? `http_${status}`, status, param, requestId });
}

function envelopeIn(body: unknown): Partial<Record<'message' | 'code' | 'param', string>> {
  const error = fieldOf(body, 'error');
  const textAt = (name: string) => {
    const value = fieldOf(error, name);
    return typeof value === 'string' ? value : undefined;
  };
  return Object.fromEntries(['message', 'code', 'param'].map((name) => [name, textAt(name)]));
}

/** Undefined of whatever is no object. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

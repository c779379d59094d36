import { ERROR_TABLE, type ErrorCode } from './error-table.ts';

/** The envelope's `error.type`; the set is closed by the public contract. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'upstream_error'
  | 'timeout_error'
  | 'server_error';

export { ERROR_TABLE, type ErrorCode };

interface ApiErrorOptions {
  readonly message?: string | undefined;
  readonly param?: string | null | undefined;
  readonly headers?: Record<string, string>;
  /** In place of the code's own. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** What a caller is told. Its message is our own words and may be shown; the cause goes to the log only. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** The field at fault, such as `reference_images[1]`; null where none is. */
  readonly param: string | null;
  /** Extra answer headers that belong to this one refusal. */
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? ERROR_TABLE[code][1], { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.headers = options.headers ?? {};
    this.status = options.status ?? ERROR_TABLE[code][0];
  }
}

export function errorStatus(code: ErrorCode): number {
  return ERROR_TABLE[code][0];
}

const TYPE_OF_STATUS: Readonly<Record<number, ErrorType>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'invalid_request_error',
  410: 'not_found_error',
  413: 'invalid_request_error',
  425: 'invalid_request_error',
  429: 'rate_limit_error',
  431: 'invalid_request_error',
  499: 'timeout_error',
  500: 'server_error',
  502: 'upstream_error',
  503: 'server_error',
  504: 'timeout_error',
};

export function errorType(code: ErrorCode): ErrorType {
  if (code === 'no_available_provider') return 'upstream_error';
  return TYPE_OF_STATUS[errorStatus(code)] ?? 'server_error';
}

const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  rate_limited: 60,
  too_many_concurrent_requests: 1,
  limits_unavailable: 1,
  media_open_job_capacity: 30,
  file_quota_exceeded: 60,
  admission_in_progress: 1,
  job_service_unavailable: 1,
  identity_unavailable: 1,
  precheck_failed: 1,
  database_unavailable: 1,
  shutting_down: 1,
  no_available_provider: 1,
};

/** By status. Client libraries retry every 409 and would never retry a 425 unless told so. */
const SHOULD_RETRY: Readonly<Record<number, 'true' | 'false'>> = {
  402: 'false',
  409: 'false',
  425: 'true',
  429: 'true',
  502: 'true',
  503: 'true',
  504: 'true',
};

/** The help link: leads to the page of a code, with its cause and cure (RFC 8288). The envelope's shape has no room for it. */
export function helpLink(code: ErrorCode): string {
  return `</docs/errors/${code}>; rel="help"`;
}

/** The headers that go with a code on every route. */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  const headers: Record<string, string> = { link: helpLink(code) };
  if (errorStatus(code) === 401) headers['www-authenticate'] = 'Bearer';
  const seconds = RETRY_AFTER_SECONDS[code];
  if (seconds !== undefined) headers['retry-after'] = String(seconds);
  const retry = SHOULD_RETRY[errorStatus(code)];
  if (retry !== undefined) headers['x-should-retry'] = retry;
  return headers;
}

export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: ErrorType;
    readonly code: ErrorCode;
    readonly param: string | null;
  };
}

export function errorEnvelope(
  code: ErrorCode,
  message: string = ERROR_TABLE[code][1],
  param: string | null = null,
): ErrorEnvelope {
  return { error: { message, type: errorType(code), code, param } };
}

/**
 * What an upstream did, as far as routing cares. `client` and `policy`: this request is refused for good. `unfit`: this
 * upstream cannot take this request (too large, a format it does not read), and another may. `server`, `connection`,
 * `timeout` and `garbled`, and `rate`: it may work elsewhere, and here later. `account` (the whole upstream) and `config`
 * (one model of it): our own credential, balance or route is wrong, and an operator must see to it.
 */
export type Fault =
  | 'client'
  | 'policy'
  | 'unfit'
  | 'rate'
  | 'account'
  | 'config'
  | 'server'
  | 'connection'
  | 'timeout'
  | 'garbled';

interface UpstreamErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly isUncertain?: boolean;
  readonly isTooLarge?: boolean;
  readonly isRequested?: boolean;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** What a vendor did. Its message is the vendor's own words and goes to the log only. */
export class UpstreamError extends Error {
  readonly fault: Fault;
  /** How long the upstream asked to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** The upstream may have taken the work all the same; what is sent again may be done twice. */
  readonly isUncertain: boolean;
  /** There was an answer, and more of it than is read. */
  readonly isTooLarge: boolean;
  /** The caller asked for this fault (`extra.sandbox`), so it says nothing about the upstream's health. */
  readonly isRequested: boolean;
  /** Of the answer that was a refusal. */
  readonly status: number | undefined;

  /** A timeout and a garbled answer are uncertain, the rest is not, unless the thrower knows better. */
  constructor(fault: Fault, detail: string, options: UpstreamErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs;
    this.isUncertain = options.isUncertain ?? (fault === 'timeout' || fault === 'garbled');
    this.isTooLarge = options.isTooLarge ?? false;
    this.isRequested = options.isRequested ?? false;
    this.status = options.status;
  }
}

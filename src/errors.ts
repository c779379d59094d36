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

/**
 * Every code a caller can be told: status and the words used when the thrower has none of its own.
 * docs/errors.md repeats this table for readers, and a test holds the two equal.
 */
export const ERROR_TABLE = {
  // Who is calling.
  missing_token: [401, 'No API key was given. Send it as "Authorization: Bearer <key>".'],
  invalid_api_key: [401, 'This API key does not exist.'],
  key_disabled: [401, 'This API key is disabled.'],
  key_expired: [401, 'This API key has expired.'],
  account_disabled: [401, 'The account of this key is suspended.'],
  no_account: [401, 'This credential belongs to no account that can be billed.'],
  insufficient_scope: [403, 'The access token lacks the scope that this route needs.'],
  identity_unavailable: [503, 'The key directory cannot be read at the moment. Try again shortly.'],

  // How much and how often.
  insufficient_credits: [402, 'The balance does not cover this request.'],
  precheck_failed: [503, 'The credit ledger cannot be read at the moment. Try again shortly.'],
  rate_limited: [429, 'Too many requests in this minute.'],
  too_many_concurrent_requests: [429, 'Too many requests at the same time.'],
  media_open_job_capacity: [429, 'The account has the most open jobs it may. Wait until one has ended.'],
  file_quota_exceeded: [429, 'The account keeps the most files it may. They go by themselves after a day.'],
  key_limit_reached: [400, 'The account holds the most API keys it may. Delete one first.'],

  // What was sent.
  malformed_request: [400, 'The request is not well-formed HTTP.'],
  headers_too_large: [431, 'The request headers are too large.'],
  request_header_timeout: [408, 'The request did not arrive in time.'],
  body_too_large: [413, 'The body is larger than this route takes.'],
  unsupported_content_encoding: [400, 'Send the body without Content-Encoding.'],
  unsupported_content_type: [400, 'This route does not take that content type.'],
  bad_request_body: [400, 'The body is not a JSON object.'],
  request_too_large: [413, 'The body is larger than 32 MiB.'],
  invalid_json: [400, 'The body is not a JSON object.'],
  invalid_parameter: [400, 'A field has a value that it cannot take.'],
  unsupported_parameter: [400, 'A field is not supported here.'],
  conflicting_parameters: [400, 'Two fields contradict each other.'],
  invalid_config: [400, 'The configuration is not valid; nothing was changed.'],
  missing_model: [400, 'Name a model.'],
  missing_prompt: [400, 'Give a prompt.'],
  missing_messages: [400, 'Give at least one message.'],
  missing_input: [400, 'Give a text, a prompt, lyrics or a description of the voice.'],
  invalid_n: [400, '"n" is not a number of results that this route can make.'],
  invalid_seconds: [400, '"seconds" is not a length.'],
  invalid_duration: [400, 'The duration is not a length.'],
  text_too_long: [413, 'The text is longer than 40 000 characters.'],
  invalid_fps: [400, '"fps" is not a whole number of frames per second.'],
  invalid_response_format: [400, '"response_format" is none that this route knows.'],
  invalid_output_format: [400, '"output_format" must be png, jpeg or webp.'],
  invalid_output: [400, '"output" must be binary, b64_json or url.'],
  invalid_temperature: [400, '"temperature" is not a number.'],
  invalid_timestamp_granularity: [400, '"timestamp_granularities" must be segment, word or both.'],
  invalid_idempotency_key: [400, 'The Idempotency-Key must be at most 512 printable ASCII characters.'],
  idempotency_conflict: [409, 'This Idempotency-Key was used for a different request.'],
  admission_in_progress: [
    425,
    'The first request with this Idempotency-Key is still being prepared. Try again shortly.',
  ],

  // Media that was sent or named.
  invalid_multipart: [400, 'The multipart body cannot be read.'],
  form_field_too_large: [413, 'A form field is larger than 64 KiB.'],
  unexpected_file: [400, 'A file was sent under a name that takes none.'],
  missing_image: [400, 'Give at least one source image.'],
  invalid_mask: [400, 'The mask must be one URL, one file, or an object with "url" or "b64".'],
  empty_mask: [400, 'The mask is empty.'],
  empty_image: [400, 'An image is empty.'],
  unreadable_image: [400, 'An image cannot be read.'],
  unsupported_image_format: [400, 'Images must be PNG, JPEG or WebP.'],
  image_too_large: [413, 'An image is larger than 25 MiB.'],
  invalid_input_reference: [400, 'A reference must be a URL, a data URL, or an image in base64.'],
  invalid_reference_audio: [400, 'The reference audio cannot be used.'],
  unsupported_audio_format: [400, 'The audio is in no format that can be read here.'],
  voice_sample_too_large: [413, 'The voice sample is larger than 10 MiB.'],
  unsupported_media_url_scheme: [400, 'A URL must begin with http://, https:// or, where it may, data:.'],
  invalid_media_url: [400, 'A URL cannot be used: it is malformed or its address is not allowed.'],
  invalid_input_url: [400, 'A URL could not be fetched, or what it gave is not of the kind that is needed.'],
  url_in_extra: [400, 'A field passed on to the model holds something like a URL that is none.'],
  missing_file: [400, 'Send one file.'],
  ambiguous_input: [400, 'Send a file or a URL, not both.'],
  empty_file: [400, 'The file is empty.'],
  unreadable_file: [400, 'The file cannot be read.'],
  file_too_large: [413, 'The file is larger than this route takes.'],
  unsupported_file_format: [400, 'The file is of no kind that is kept here.'],
  duplicate_reference: [409, 'A grant with this reference exists already.'],
  credits_not_available: [409, 'The account does not have that many unspent credits to take back.'],
  grant_over: [409, 'The grant has expired or is a taking back; its expiry cannot be changed.'],
  duplicate_email: [409, 'An account with this email exists already.'],

  // What it named.
  not_found: [404, 'There is nothing at this method and path.'],
  model_not_found: [404, 'There is no such model for this key.'],
  job_not_found: [404, 'There is no such job.'],
  job_asset_not_ready: [409, 'The job has no asset that can be delivered.'],
  invalid_link: [403, 'This link is not valid, or not any more.'],
  transcription_not_found: [404, 'There is no such transcription.'],
  transcription_expired: [410, 'The transcription is not kept any more.'],
  request_not_found: [404, 'There is no such request.'],
  account_not_found: [404, 'There is no such account.'],
  grant_not_found: [404, 'There is no such grant.'],
  key_not_found: [404, 'There is no such key.'],
  upstream_not_found: [404, 'There is no such upstream.'],
  client_not_found: [404, 'There is no such OAuth client.'],

  no_capable_provider: [404, 'No upstream of this model can do this.'],
  unknown_route: [404, 'There is no such route of the native format.'],
  unsupported_action: [404, 'The native format serves generateContent, streamGenerateContent and countTokens.'],

  // What an upstream did.
  upstream_rejected: [400, 'The model does not take this request.'],
  content_rejected: [400, 'The request was refused by the content rules of the model.'],
  upstream_failed: [502, 'The model could not be reached or gave no usable answer.'],
  empty_stream: [502, 'The model gave no answer.'],
  empty_audio_response: [502, 'The model gave no usable audio.'],
  empty_transcription_response: [502, 'The model gave no usable text.'],
  upstream_response_too_large: [502, 'The answer of the model is larger than 32 MiB.'],
  no_available_provider: [503, 'Every upstream of this model is recovering from a failure. Try again shortly.'],

  // What went wrong on this side.
  request_timeout: [504, 'The request took too long.'],
  request_canceled: [499, 'The caller went away.'],
  internal_error: [500, 'Something went wrong on our side.'],
  job_service_unavailable: [503, 'Stored media cannot be reached at the moment. Try again shortly.'],
  database_unavailable: [503, 'The database cannot be reached at the moment. Try again shortly.'],
  shutting_down: [503, 'This server is stopping. Try again shortly.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof ERROR_TABLE;

interface ApiErrorOptions {
  readonly message?: string | undefined;
  readonly param?: string | null | undefined;
  readonly headers?: Record<string, string>;
  readonly cause?: unknown;
}

/** What a caller is told. Its message is our own words and may be shown; the cause goes to the log only. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** The field at fault, such as `reference_images[1]`; null where none is. */
  readonly param: string | null;
  /** Extra answer headers that belong to this one refusal. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? ERROR_TABLE[code][1], { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERROR_TABLE[this.code][0];
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
  media_open_job_capacity: 30,
  file_quota_exceeded: 60,
  admission_in_progress: 1,
  job_service_unavailable: 1,
  identity_unavailable: 1,
  precheck_failed: 1,
  database_unavailable: 1,
  shutting_down: 1,
  no_available_provider: 5,
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

/** The headers that go with a code on every route. */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  const headers: Record<string, string> = {};
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

  /** A timeout and a garbled answer are uncertain, the rest is not, unless the thrower knows better. */
  constructor(fault: Fault, detail: string, options: UpstreamErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs;
    this.isUncertain = options.isUncertain ?? (fault === 'timeout' || fault === 'garbled');
    this.isTooLarge = options.isTooLarge ?? false;
    this.isRequested = options.isRequested ?? false;
  }
}

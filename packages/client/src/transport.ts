import { errorOfAnswer, TollgateError } from './errors.ts';
import { pause, retryDelayMs, shouldRetry } from './retry.ts';

/** How to reach a gateway. */
export interface TollgateOptions {
  /** The gateway's address, without `/v1`, or that of your own proxy in front of it. */
  readonly baseUrl: string;
  /** An API key, or what gives the current access token. Left out where your own proxy adds it. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** How often a request that may be repeated is sent again. */
  readonly maxRetries?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

/** What can be said of any one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly maxRetries?: number | undefined;
}

/** A request as the parts of the library give it. */
export interface Sending extends CallOptions {
  readonly json?: unknown;
  /** Made anew for every attempt. */
  readonly form?: (() => { readonly body: FormData | ReadableStream<Uint8Array>; readonly type?: string }) | undefined;
  readonly isRepeatable?: boolean;
}

const MAX_RETRIES = 2;

/** Sends requests with the credential, again where that is safe, and turns refusals into errors. */
export class Transport {
  readonly #options: TollgateOptions;
  readonly #origin: string;

  constructor(options: TollgateOptions) {
    this.#options = options;
    this.#origin = options.baseUrl.replace(/\/+(?:v1\/*)?$/, '');
  }

  /** The answer's JSON, whose shape is the contract's. */
  async json<Answer>(method: 'GET' | 'POST', path: string, sending: Sending = {}): Promise<Answer> {
    const response = await this.send(method, path, sending);
    return (await readWhole(response, sending.signal, () => response.json())) as Answer;
  }

  async send(method: 'GET' | 'POST', path: string, sending: Sending = {}): Promise<Response> {
    const { json, form, isRepeatable = method === 'GET', signal } = sending;
    return this.#withRetries({ ...sending, isRepeatable }, async () => {
      const { body, type } = form?.() ?? {
        body: json === undefined ? null : JSON.stringify(json),
        type: jsonType(json),
      };
      const headers = await this.#headers(sending, type);
      const init = { method, headers, body, signal: signal ?? null, ...(body instanceof ReadableStream && HALF) };
      return this.#fetch(`${this.#origin}${path}`, init);
    });
  }

  /** What lies at a link, which needs no credential and may be of another host. */
  async get(url: string, options: CallOptions): Promise<Response> {
    return this.#withRetries({ ...options, isRepeatable: true }, () =>
      this.#fetch(url, { signal: options.signal ?? null }),
    );
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(url, init);
  }

  async #withRetries(
    { maxRetries = this.#options.maxRetries ?? MAX_RETRIES, signal, isRepeatable }: Sending & { isRepeatable: boolean },
    attempt: () => Promise<Response>,
  ): Promise<Response> {
    for (let retry = 0; ; retry++) {
      let response: Response | undefined;
      try {
        response = await attempt();
      } catch (cause) {
        signal?.throwIfAborted();
        // Without an answer it is unknown whether the request was served, and what is charged is not asked for twice.
        if (!isRepeatable || retry >= maxRetries) throw connectionFailed(cause);
      }
      if (response?.ok === true) return response;
      if (response !== undefined) {
        const { status, headers } = response;
        if (retry >= maxRetries || !shouldRetry({ status, headers, isRepeatable })) throw await errorIn(response);
        await response.body?.cancel();
      }
      await pause(retryDelayMs(retry, response?.headers, Math.random()), signal);
    }
  }

  async #headers({ headers }: Sending, type: string | undefined): Promise<Headers> {
    const { apiKey } = this.#options;
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    const all = new Headers(this.#options.headers);
    if (key !== undefined) all.set('authorization', `Bearer ${key}`);
    if (type !== undefined) all.set('content-type', type);
    for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) all.set(name, value);
    return all;
  }
}

/** A body that is a stream is sent while the answer may already come; `fetch` wants that said. */
const HALF = { duplex: 'half' } as const;

function jsonType(json: unknown): string | undefined {
  return json === undefined ? undefined : 'application/json';
}

/** A connection that is cut while an answer is read is told as one that failed before it. */
export async function readWhole<Content>(
  response: Response,
  signal: AbortSignal | undefined,
  read: () => Promise<Content>,
): Promise<Content> {
  try {
    return await read();
  } catch (cause) {
    signal?.throwIfAborted();
    throw connectionFailed(cause, requestIdOf(response));
  }
}

export function connectionFailed(cause: unknown, requestId?: string): TollgateError {
  const code = 'connection_failed';
  return new TollgateError('The gateway could not be reached, or broke off its answer.', { code, requestId, cause });
}

export function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

async function errorIn(response: Response): Promise<TollgateError> {
  const body: unknown = await response.json().catch(() => undefined);
  return errorOfAnswer(response.status, requestIdOf(response), body);
}

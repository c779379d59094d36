/** A refusal of the gateway: its own words, code and request id, as in every error of the API. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly param: string | undefined;

  constructor(status: number, envelope: Envelope, requestId: string) {
    super(envelope.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = envelope.code ?? 'unknown';
    this.requestId = requestId;
    this.param = envelope.param ?? undefined;
  }
}

interface Envelope {
  readonly message?: string;
  readonly code?: string;
  readonly param?: string | null;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** An object goes as JSON; a form and a text as they are. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sent with every change; the session's answer brings it. */
let csrfToken = '';

export function rememberCsrfToken(token: string): void {
  csrfToken = token;
}

/** Fired when the gateway says that nobody is signed in any more. */
export const SIGNED_OUT = 'tollgate-signed-out';

/** The JSON answer to a call. Throws `Refusal`, or a `TypeError` when the gateway cannot be reached. */
export async function api<Answer>(path: string, call: Call = {}): Promise<Answer> {
  return (await (await send(path, call)).json()) as Answer;
}

/** The answer as it comes: for streams, files and their headers. */
export async function send(path: string, call: Call = {}): Promise<Response> {
  const answer = await attempt(path, call);
  if (answer.ok) return answer;
  const refusal = await refusalOf(answer);
  if (refusal.code === 'not_signed_in') window.dispatchEvent(new Event(SIGNED_OUT));
  // Signed in anew in another tab: the cookie is of the new session and the token of the old. Nothing was done.
  if (refusal.code === 'csrf_refused' && (await renewCsrfToken())) {
    const second = await attempt(path, call);
    if (second.ok) return second;
    throw await refusalOf(second);
  }
  throw refusal;
}

function attempt(path: string, { method = 'GET', query, body, contentType, headers, signal }: Call): Promise<Response> {
  const isPlain = body === undefined || body instanceof FormData || typeof body === 'string';
  const type = contentType ?? (isPlain ? undefined : 'application/json');
  return fetch(path + queryOf(query), {
    method,
    headers: {
      ...headers,
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(method === 'GET' ? {} : { 'x-csrf-token': csrfToken }),
    },
    ...(body === undefined ? {} : { body: isPlain ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function renewCsrfToken(): Promise<boolean> {
  const answer = await fetch('/api/console/session');
  if (!answer.ok) return false;
  const { csrf_token } = (await answer.json()) as { readonly csrf_token: string };
  const isNew = csrf_token !== csrfToken;
  rememberCsrfToken(csrf_token);
  return isNew;
}

async function refusalOf(answer: Response): Promise<Refusal> {
  const requestId = answer.headers.get('x-request-id') ?? '';
  try {
    const { error } = (await answer.json()) as { readonly error?: Envelope };
    return new Refusal(answer.status, error ?? {}, requestId);
  } catch {
    return new Refusal(answer.status, {}, requestId);
  }
}

export function queryOf(query: Call['query'] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

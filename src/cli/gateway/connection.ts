import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { CommandError, Interrupted } from '../command.ts';
import { EXIT, exitCodeFor } from '../exit-codes.ts';

/** An undici body: JSON text, a form, or nothing. */
type Body = Dispatcher.DispatchOptions['body'];

export interface Call {
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Body;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable & { text(): Promise<string> };
}

/** One gateway with one credential. What it refuses is thrown as CommandError, with the exit code that stands for it. */
export class Connection {
  readonly address: string;
  readonly signal: AbortSignal;
  readonly #bearer: () => Promise<string | undefined>;

  constructor(address: string, bearer: () => Promise<string | undefined>, signal: AbortSignal) {
    this.address = address;
    this.#bearer = bearer;
    this.signal = signal;
  }

  async get<Value>(path: string, query: Call['query'] = {}): Promise<Value> {
    return this.json('GET', path, { query });
  }

  async json<Value>(method: Dispatcher.HttpMethod, path: string, call: Call = {}): Promise<Value> {
    const text = await this.text(method, path, call);
    try {
      return JSON.parse(text) as Value;
    } catch {
      throw new CommandError(`${this.address} answered with something else than JSON. Is it a Tollgate?`, {
        exitCode: EXIT.unreachable,
      });
    }
  }

  async text(method: Dispatcher.HttpMethod, path: string, call: Call = {}): Promise<string> {
    const { body } = await this.open(method, path, call);
    return this.#reading(this.address, () => body.text());
  }

  /** Resolves to an answer of success with its body unread. */
  async open(method: Dispatcher.HttpMethod, path: string, call: Call = {}): Promise<Answer> {
    const bearer = await this.#bearer();
    const answer = await this.send(method, this.address + path, {
      ...call,
      headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...call.headers },
    });
    if (answer.status < 400) return answer;
    const refused = errorFromEnvelope(answer, await this.#reading(this.address, () => answer.body.text()));
    // A route of operators answers a wrong token as if it were not there.
    if (!path.startsWith('/api/admin/') || refused.code !== 'not_found') throw refused;
    throw new CommandError(`${this.address} does not take this admin token, or is no Tollgate.`, {
      exitCode: EXIT.credential,
      code: refused.code,
    });
  }

  /** Any address and without a credential of its own, for links and for the protocol of tokens. */
  async send(method: Dispatcher.HttpMethod, url: string, { query, headers, json, body }: Call): Promise<Answer> {
    const target = new URL(url);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) target.searchParams.set(name, value);
    }
    const answer = await this.#reading(target.origin, () =>
      request(target, {
        method,
        headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
        body: json === undefined ? (body ?? null) : JSON.stringify(json),
        signal: this.signal,
      }),
    );
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  }

  async #reading<Value>(address: string, read: () => Promise<Value>): Promise<Value> {
    try {
      return await read();
    } catch (error) {
      if (this.signal.aborted) throw new Interrupted();
      throw unreachable(address, this.address, error);
    }
  }
}

function unreachable(address: string, gateway: string, error: unknown): CommandError {
  // A name with several addresses fails with several errors and no message of its own.
  const reasons = error instanceof AggregateError ? error.errors : [error];
  const reason = reasons.map((each: unknown) => (each instanceof Error ? each.message : String(each))).join('; ');
  const hint =
    new URL(gateway).origin === address || gateway === address
      ? 'Start it, or name another with --url or TOLLGATE_URL.'
      : 'The gateway’s links lead there: its PUBLIC_URL, or the address of its bucket, must be one that you reach.';
  return new CommandError(`${address} cannot be reached: ${reason}. ${hint}`, {
    exitCode: EXIT.unreachable,
    cause: error,
  });
}

interface Envelope {
  readonly error?: { readonly message?: string; readonly code?: string };
}

function errorFromEnvelope({ status, headers }: Answer, text: string): CommandError {
  const requestId = headers['x-request-id'];
  let envelope: Envelope = {};
  try {
    envelope = JSON.parse(text) as Envelope;
  } catch {
    // Something between here and the gateway answered; its status is all there is.
  }
  const { message = `The gateway answered ${status}.`, code = `http_${status}` } = envelope.error ?? {};
  return new CommandError(message, {
    exitCode: exitCodeFor(status, code),
    code,
    ...(typeof requestId === 'string' && { requestId }),
  });
}

import { type Fault, UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { UPSTREAM_ERROR_BYTES_MAX } from '../../limits.ts';
import type { Span } from '../../signals/index.ts';
import { type JsonWithBlobs, readJsonWithBlobs } from './blobs.ts';
import { exchange, type StreamedBody, type UpstreamReply, type UpstreamRequest } from './exchange.ts';
import { type FaultRules, FaultTable } from './faults.ts';
import { parseObject, readBytes, type Upstream } from './http.ts';
import { toJsonBody } from './json-body.ts';
import { type Part, toMultipart } from './multipart.ts';
import { openSound } from './sound.ts';
import { readJsonWithVectors } from './vectors.ts';

/** What all calls to one vendor share. */
export interface WireRules {
  /** The headers of every call: they carry the credential, which may have to be fetched, or made from the call itself. */
  headers(upstream: Upstream, request: SignedRequest): Headers | Promise<Headers>;
  /** After a refusal by 401: forgets what was fetched. True where the call is worth another attempt with a new one. */
  renew?(upstream: Upstream): boolean;
  /** Where a call goes at servers that have another place for it. */
  path?(upstream: Upstream, path: string): string;
  readonly faults: FaultRules;
  /** Some servers of this vendor's format do not say that what they send are events. */
  readonly hasUntypedEvents?: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** What a signature is made of: the call as it is sent, its path with the query. */
export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Headers;
  readonly body: UpstreamRequest['body'];
}

/** What is sent: without a body it is a GET, with one a POST. */
export interface Call {
  /** Behind the upstream's address, with its query; or an address of its own (`ownUrl`). */
  readonly path: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** `application/json` where none is named. */
  readonly accept?: string;
  readonly body?: CallBody;
  /** The statuses that are no refusal; 200 alone where none are named. */
  readonly accepts?: readonly number[];
}

export type CallBody =
  | { readonly json: WireValue }
  | { readonly form: readonly Part[] }
  | { readonly type: string; readonly content: string | Buffer | StreamedBody };

/** JSON to be written: what is undefined is left out. */
export type WireValue =
  | JsonValue
  | undefined
  | readonly WireValue[]
  | {
      readonly [key: string]: WireValue;
    };

const SUCCESS: readonly number[] = [200];
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const REDIRECTS_MAX = 3;

/**
 * The calls to one vendor. This is the only way to make any, so each carries the credential and has its refusals, and
 * the errors inside its successes, read by the vendor's fault table. Every method throws UpstreamError.
 */
export class Wire {
  readonly faults: FaultTable;
  readonly #rules: WireRules;

  constructor(rules: WireRules) {
    this.#rules = rules;
    this.faults = new FaultTable(rules.faults);
  }

  /** Resolves with the headers of a success; the body follows piece by piece. */
  async send(upstream: Upstream, call: Call): Promise<UpstreamReply> {
    let reply = await this.#exchange(upstream, call);
    if (reply.status === 401 && this.#rules.renew?.(upstream) === true) {
      await startOf(reply.body);
      reply = await this.#exchange(upstream, call);
    }
    if ((call.accepts ?? SUCCESS).includes(reply.status)) return reply;
    throw await this.#refusal(reply);
  }

  async #exchange(upstream: Upstream, call: Call): Promise<UpstreamReply> {
    const { pool, path } = placeOf(upstream, this.#pathOf(upstream, call.path));
    const { type, content: body } = await toContent(call.body);
    const plain = { accept: call.accept ?? 'application/json', ...call.headers };
    const method = body === null ? 'GET' : 'POST';
    const typed = type === undefined ? plain : { ...plain, 'content-type': type };
    const proof = this.#rules.headers(upstream, { method, path, headers: typed, body });
    const headers = { ...(proof instanceof Promise ? await proof : proof), ...typed };
    const span = callSpan(upstream, method);
    return exchange(pool, {
      method,
      path,
      headers: span?.propagated === undefined ? headers : { ...headers, traceparent: span.propagated },
      body,
      signal: upstream.signal,
      timeoutMs: upstream.timeoutMs,
      onEnd: span && ((error, status) => endSpan(span, error, status)),
    });
  }

  #pathOf(upstream: Upstream, path: Call['path']): Call['path'] {
    return path instanceof URL ? path : (this.#rules.path?.(upstream, path) ?? path);
  }

  /** A JSON object. */
  async json(upstream: Upstream, call: Call): Promise<JsonObject> {
    const value = parseObject((await readBytes(await this.send(upstream, call))).toString('utf8'));
    if (value === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
    this.faults.throwIfError(value);
    return value;
  }

  /** A JSON object whose bulk is base64 under one key. */
  async jsonWithBlobs(upstream: Upstream, call: Call, key: string, bytesMax: number): Promise<JsonWithBlobs> {
    const answer = await readJsonWithBlobs(await this.send(upstream, call), key, bytesMax);
    this.faults.throwIfError(answer.json);
    return answer;
  }

  /** A JSON object whose bulk is vectors under one key. */
  async jsonWithVectors(upstream: Upstream, call: Call, key: string): Promise<JsonWithBlobs> {
    const answer = await readJsonWithVectors(await this.send(upstream, call), key);
    this.faults.throwIfError(answer.json);
    return answer;
  }

  /** Sound, once the first of it is here. */
  async sound(upstream: Upstream, call: Call): Promise<AsyncIterable<Buffer>> {
    const reply = await this.send(upstream, call);
    return openSound(reply, (document) => this.faults.throwIfError(document));
  }

  /** Sound to its end, and the headers that came before it. */
  async wholeSound(upstream: Upstream, call: Call): Promise<{ data: Buffer; headers: UpstreamReply['headers'] }> {
    const reply = await this.send(upstream, call);
    const body = await openSound(reply, (document) => this.faults.throwIfError(document));
    return { data: await readBytes({ body }), headers: reply.headers };
  }

  /** A result behind the credential, piece by piece, also behind redirects of the same host. `path` is out of an answer, so it must not lead to another host. */
  async download(upstream: Upstream, path: string): Promise<AsyncIterable<Buffer>> {
    let url = ownUrl(upstream.address + path, upstream);
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const reply = await this.send(upstream, { path: url, accept: '*/*', accepts: [...SUCCESS, ...REDIRECTS] });
      if (!REDIRECTS.includes(reply.status)) return reply.body;
      await startOf(reply.body);
      // The credential goes along, so the next address is held to the same rule.
      url = ownUrl(URL.parse(String(reply.headers.location), url)?.href, upstream);
    }
    throw new UpstreamError('garbled', 'a result behind too many redirects');
  }

  /** A body of server-sent events, or of a binary event stream where the call accepts that. A document in place of them is an error inside a success, or else `otherwise`. */
  async events(upstream: Upstream, call: Call, otherwise: Fault = 'garbled'): Promise<UpstreamReply> {
    const reply = await this.send(upstream, { accept: 'text/event-stream', ...call });
    const type = contentTypeOf(reply);
    if (/event-?stream/.test(type) || (type === '' && this.#rules.hasUntypedEvents === true)) return reply;
    const start = await startOf(reply.body);
    const document = parseHint(start);
    if (document !== undefined) this.faults.throwIfError(document);
    throw new UpstreamError(otherwise, `events were asked for and "${type}" came: ${start}`);
  }

  async #refusal({ status, headers, body }: UpstreamReply): Promise<UpstreamError> {
    const text = await startOf(body);
    const document = this.#withHeader(parseHint(text), headers);
    const fault = this.faults.ofRefusal(status, document);
    const retryAfterMs = retryAfterIn(headers) ?? (document && this.faults.retryAfterMs(document));
    // A success of another kind than was asked for is no refusal.
    return new UpstreamError(fault, `status ${status}: ${text}`, { retryAfterMs, isUncertain: status < 300, status });
  }

  #withHeader(document: JsonObject | undefined, headers: UpstreamReply['headers']): JsonObject | undefined {
    const { header } = this.#rules.faults;
    const name = header === undefined ? undefined : headers[header];
    return header === undefined || name === undefined ? document : { ...document, [header]: String(name) };
  }
}

/** Credential, faults and every shape of call in one declaration. */
export function defineWire(rules: WireRules): Wire {
  return new Wire(rules);
}

/** Of a call, to the end of its answer. Its path stays out: some vendors put a credential there. */
function callSpan({ span, address }: Upstream, method: string): Span | undefined {
  return span?.child(method, 'client', {
    'http.request.method': method,
    'server.address': URL.parse(address)?.hostname,
  });
}

/** With a fault's name or a status, never the text of an error. */
function endSpan(span: Span, error: unknown, status: number): void {
  if (status > 0) span.set({ 'http.response.status_code': status });
  if (error !== undefined) span.end(error instanceof UpstreamError ? error.fault : 'canceled');
  else span.end(status >= 400 ? String(status) : undefined);
}

/** Where a call goes: the connections, and the whole path. */
function placeOf({ pools, address }: Upstream, to: string | URL): ReturnType<Upstream['pools']['at']> {
  if (to instanceof URL) return { pool: pools.at(to.origin).pool, path: to.pathname + to.search };
  const { pool, path } = pools.at(address);
  return { pool, path: path + to };
}

async function toContent(body: CallBody | undefined): Promise<{ type?: string; content: UpstreamRequest['body'] }> {
  if (body === undefined) return { content: null };
  if ('json' in body) return { type: 'application/json', content: await toJsonBody(body.json) };
  if ('content' in body) return body;
  const { contentType, body: content } = toMultipart(body.form);
  return { type: contentType, content };
}

/**
 * An address out of an answer, which is given our credential: so it must be one of the upstream's own. `others` are the
 * vendor's further origins, for upstreams that are the vendor itself.
 */
export function ownUrl(address: JsonValue | undefined, upstream: Upstream, others: readonly string[] = []): URL {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  const own = [new URL(upstream.address).origin, ...others];
  if (url === null || !own.includes(url.origin)) {
    throw new UpstreamError('garbled', 'an address that is not the upstream’s');
  }
  return url;
}

export function contentTypeOf({ headers }: UpstreamReply): string {
  const type = headers['content-type'];
  return (Array.isArray(type) ? type[0] : type) ?? '';
}

/** What it says is only a hint, however it is shaped. */
function parseHint(text: string): JsonObject | undefined {
  try {
    return parseObject(text);
  } catch {
    return undefined;
  }
}

/** A refusal's text is for the log; a long one, or one that breaks off, is cut. Stopping there closes the connection. */
async function startOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  try {
    for await (const piece of body) {
      text += piece.toString('utf8');
      if (text.length > UPSTREAM_ERROR_BYTES_MAX) break;
    }
  } catch {
    // The status has been told already.
  }
  return text.slice(0, UPSTREAM_ERROR_BYTES_MAX);
}

/** Some servers say it in milliseconds as well, and then more exactly. */
function retryAfterIn(headers: UpstreamReply['headers']): number | undefined {
  return numberIn(headers['retry-after-ms'], 1) ?? numberIn(headers['retry-after'], 1000);
}

function numberIn(header: string | string[] | undefined, unitMs: number): number | undefined {
  const text = String(header ?? '');
  return /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) * unitMs : undefined;
}

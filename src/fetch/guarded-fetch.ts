import { ApiError } from '../errors.ts';
import { FETCH_CONNECT_TIMEOUT_MS, FETCH_REDIRECTS_MAX, FETCH_TIMEOUT_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { isPublicAddress } from './addresses.ts';
import { type Answer, decodedBody, get, notFetchable, redirection } from './answer.ts';
import { dial } from './dial.ts';
import { hostOf, refusal, UrlPolicy } from './policy.ts';
import { type Resolver, resolveBySystem, resolveOnce } from './resolve.ts';

export interface GuardedFetchOptions {
  /** Entries `host` or `host:port` that may be fetched from although they are not public. */
  readonly allow: readonly string[];
  readonly log: Logger;
  readonly resolve?: Resolver;
  readonly connectTimeoutMs?: number;
  /** For everything, from the first lookup to the last byte. */
  readonly timeoutMs?: number;
}

export interface Fetched {
  /** Canonical, behind the redirects. */
  readonly url: string;
  /** To be read once. Ends with the same errors as `open`. Leaving the loop early closes the connection. */
  readonly body: AsyncIterable<Buffer>;
}

export class GuardedFetch {
  readonly #policy: UrlPolicy;
  readonly #log: Logger;
  readonly #resolve: Resolver;
  readonly #connectTimeoutMs: number;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();

  constructor(options: GuardedFetchOptions) {
    this.#policy = new UrlPolicy(options.allow);
    this.#log = options.log;
    this.#resolve = options.resolve ?? resolveBySystem;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? FETCH_CONNECT_TIMEOUT_MS;
    this.#timeoutMs = options.timeoutMs ?? FETCH_TIMEOUT_MS;
  }

  /**
   * The canonical form, to be used instead of what the caller wrote. Throws ApiError `unsupported_media_url_scheme`
   * or `invalid_media_url`. Touches no network, so the addresses of a name are not judged yet.
   */
  check(url: string): URL {
    return this.#policy.check(url);
  }

  /**
   * Resolves when a body of status 200 begins. Throws as `check` does, for every redirect and every address too, and
   * ApiError `invalid_input_url` for what is allowed and cannot be fetched. A given-up fetch throws the signal's reason.
   */
  async open(url: string, options: { bytesMax: number; signal?: AbortSignal }): Promise<Fetched> {
    const { bytesMax, signal } = options;
    const ends = [
      this.#closing.signal,
      AbortSignal.timeout(this.#timeoutMs),
      ...(signal === undefined ? [] : [signal]),
    ];
    let answer: Answer | undefined;
    try {
      const last = await this.#follow(url, AbortSignal.any(ends));
      answer = last.answer;
      return { url: last.url.href, body: this.#read(answer, decodedBody(answer, bytesMax), signal) };
    } catch (error) {
      answer?.end();
      throw this.#faultFor(error, signal);
    }
  }

  /** Ends every fetch that is under way. */
  close(): void {
    this.#closing.abort(new ApiError('shutting_down'));
  }

  async #follow(text: string, signal: AbortSignal): Promise<{ url: URL; answer: Answer }> {
    let url = this.#policy.check(text);
    for (let redirects = 0; redirects <= FETCH_REDIRECTS_MAX; redirects++) {
      const answer = await this.#get(url, signal);
      const location = redirection(answer);
      if (location === undefined) return { url, answer };
      answer.end();
      url = this.#policy.check(location, url);
    }
    throw notFetchable('there are too many redirects');
  }

  /** A connection for each request: one that was kept could belong to a name that has another address by now. */
  async #get(url: URL, signal: AbortSignal): Promise<Answer> {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(this.#connectTimeoutMs)]);
    const addresses = await this.#addressesOf(url, soon);
    return get(url, await dial(url, addresses, soon), signal);
  }

  async #addressesOf(url: URL, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = await resolveOnce(this.#resolve, hostOf(url), signal);
    if (this.#policy.isAllowed(url))
      this.#log.info({ url: url.origin + url.pathname }, 'fetching from an allowed host');
    else if (!addresses.every(isPublicAddress)) throw refusal('one of its addresses is not public');
    return addresses;
  }

  async *#read(answer: Answer, content: AsyncIterable<Buffer>, signal?: AbortSignal): AsyncGenerator<Buffer> {
    try {
      yield* content;
    } catch (error) {
      throw this.#faultFor(error, signal);
    } finally {
      answer.end();
    }
  }

  /** The URL is not at fault when the caller has left or the program stops. */
  #faultFor(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason;
    if (this.#closing.signal.aborted) return this.#closing.signal.reason;
    return error instanceof ApiError ? error : notFetchable(error);
  }
}

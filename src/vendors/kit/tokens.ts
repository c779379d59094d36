import { UpstreamError } from '../../errors.ts';
import { TOKEN_AHEAD_MS, TOKEN_RETRY_MS, TOKENS_MAX } from '../../limits.ts';

/** What a call carries to prove who makes it, and for how long it may be used from now on. */
export interface Token<Value = string> {
  readonly value: Value;
  readonly lifetimeMs: number;
}

interface Entry {
  /** One refresh at a time, shared by all calls that wait for it. */
  refresh: Promise<StoredToken> | undefined;
  token: StoredToken | undefined;
}

interface StoredToken {
  readonly value: unknown;
  readonly fetchedMs: number;
  readonly expiresMs: number;
  renewMs: number;
}

/**
 * Cache of access tokens, one for each credential, shared by all calls of the process. A token is renewed in the
 * background while it can still be used, so that no call waits for it but the first.
 */
export class TokenCache {
  readonly #entries = new Map<string, Entry>();
  readonly #nowMs: () => number;

  /** Monotonic time: what is measured is how long a token was held here, whatever the time of day is. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * `key` names the credential, its secret included. Throws UpstreamError, by which the next candidate is asked: a token
   * that cannot be had is a fault of the operator's account or of the server that gives it, never of the caller.
   */
  async take<Value>(key: string, signal: AbortSignal, fetch: () => Promise<Token<Value>>): Promise<Value> {
    const entry = this.#entryOf(key);
    const { token } = entry;
    const nowMs = this.#nowMs();
    if (token === undefined || nowMs >= token.expiresMs) {
      const refreshed = await unlessAborted(this.#refresh(entry, fetch), signal);
      return refreshed.value as Value;
    }
    // A failure is told by the call that finds the token expired; until then the next attempt may succeed.
    if (nowMs >= token.renewMs) this.#refresh(entry, fetch).catch(() => undefined);
    return token.value as Value;
  }

  /**
   * Drops a token that the upstream refused, such as one whose rights were changed. One that was fetched just now stays:
   * it came after the one that was refused, or another would be no better.
   */
  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.token === undefined || this.#nowMs() < entry.token.fetchedMs + TOKEN_RETRY_MS) return;
    entry.token = undefined;
  }

  #refresh(entry: Entry, fetch: () => Promise<Token<unknown>>): Promise<StoredToken> {
    entry.refresh ??= this.#fetched(fetch).then(
      (token) => {
        entry.refresh = undefined;
        entry.token = token;
        return token;
      },
      (error: unknown) => {
        entry.refresh = undefined;
        if (entry.token !== undefined) entry.token.renewMs = this.#nowMs() + TOKEN_RETRY_MS;
        throw error;
      },
    );
    return entry.refresh;
  }

  async #fetched(fetch: () => Promise<Token<unknown>>): Promise<StoredToken> {
    const askedMs = this.#nowMs();
    const { value, lifetimeMs } = await fetch();
    const aheadMs = Math.min(TOKEN_AHEAD_MS, lifetimeMs / 2);
    return { value, fetchedMs: askedMs, expiresMs: askedMs + lifetimeMs, renewMs: askedMs + lifetimeMs - aheadMs };
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key);
    const entry = known ?? { refresh: undefined, token: undefined };
    if (known === undefined) {
      // The oldest belongs to a credential that was replaced, or is fetched again.
      const [oldest] = this.#entries.size >= TOKENS_MAX ? this.#entries.keys() : [];
      if (oldest !== undefined) this.#entries.delete(oldest);
      this.#entries.set(key, entry);
    }
    return entry;
  }
}

/** A call that is given up stops waiting; the refresh goes on for the others. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => aborted.reject(new DOMException('The call was given up.', 'AbortError'));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    aborted.promise.catch(() => undefined);
  }
}

/**
 * Says that it is the token that could not be had. The work itself was not sent, so nothing is uncertain; a refusal is
 * never the caller's fault.
 */
export async function asTokenFault<Result>(from: string, fetch: () => Promise<Result>): Promise<Result> {
  try {
    return await fetch();
  } catch (error) {
    const { fault, message, retryAfterMs, status } = toUpstreamError(error);
    const isRefusal = fault === 'client' || fault === 'policy' || fault === 'unfit' || fault === 'config';
    throw new UpstreamError(isRefusal ? 'account' : fault, `no token from ${from}: ${message}`, {
      cause: error,
      isUncertain: false,
      retryAfterMs,
      status,
    });
  }
}

function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError('account', error instanceof Error ? error.message : String(error));
}

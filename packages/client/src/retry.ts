/** Whether and when a request is sent again, and how a job is polled. Pure but for `pause`. */

const FIRST_RETRY_MS = 500;
const RETRY_MS_MAX = 8_000;
/** A gateway that wants to be left alone for longer is obeyed by giving up. */
const RETRY_AFTER_MS_MAX = 60_000;
const FIRST_POLL_MS = 500;
const POLL_MS_MAX = 5_000;

/** What a decision about an answer rests on. */
export interface Refused {
  readonly status: number;
  readonly headers: Headers;
  /** Reads, and creates with an idempotency key: a second one does nothing that the first has done. */
  readonly isRepeatable: boolean;
}

/** The gateway says it by `x-should-retry`. Without that header, the answer is of a proxy in front of it. */
export function shouldRetry({ status, headers, isRepeatable }: Refused): boolean {
  const said = headers.get('x-should-retry');
  if (said !== null) return said === 'true' && retryAfterMs(headers) <= RETRY_AFTER_MS_MAX;
  if (status === 429) return retryAfterMs(headers) <= RETRY_AFTER_MS_MAX;
  return isRepeatable && (status === 408 || status >= 500) && retryAfterMs(headers) <= RETRY_AFTER_MS_MAX;
}

/** At least what `Retry-After` wants, and jitter on top of it, so that callers who were refused together do not return together. */
export function retryDelayMs(retry: number, headers: Headers | undefined, random: number): number {
  const own = jittered(Math.min(RETRY_MS_MAX, FIRST_RETRY_MS * 2 ** retry), random);
  const wanted = headers === undefined ? 0 : retryAfterMs(headers);
  return wanted === 0 ? own : wanted * (1 + random / 4);
}

/** Jittered back-off: short at first, for pictures, and longer for what takes minutes. */
export function pollDelayMs(poll: number, random: number): number {
  return jittered(Math.min(POLL_MS_MAX, FIRST_POLL_MS * 1.5 ** poll), random);
}

/** Between half of it and all of it. */
function jittered(ms: number, random: number): number {
  return ms * (0.5 + random / 2);
}

/** Seconds, or a date, which is compared with the answer's own so that two clocks need not agree. 0 where neither is there. */
function retryAfterMs(headers: Headers): number {
  const wanted = headers.get('retry-after') ?? '0';
  const seconds = Number(wanted);
  const ms = Number.isNaN(seconds) ? Date.parse(wanted) - Date.parse(headers.get('date') ?? '') : seconds * 1000;
  return ms > 0 ? ms : 0;
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    function stop(): void {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener('abort', stop, { once: true });
  });
}

import { createHash } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { type Fault, UpstreamError } from '../../../src/errors.ts';
import type { JsonObject, JsonValue } from '../../../src/json.ts';
import { parseWith } from '../../../src/parse.ts';
import type { Upstream } from '../../../src/vendors/kit/http.ts';

const DELAY_MS_MAX = 60_000;
const FAILURES_MAX = 1_000;
const FRAMES_MAX = 1_000_000;
const COUNTED_REQUESTS_MAX = 1_000;

const FAULTS = { busy: 'rate', down: 'server', timeout: 'timeout', garbled: 'garbled', policy: 'policy' } as const;

const count = (max: number) => z.int().min(0).max(max).nullish();

// Strict: a misspelt fault would otherwise look like a gateway that survived it.
const orders = z.strictObject({
  delay_ms: count(DELAY_MS_MAX),
  fail: z.enum(['busy', 'down', 'timeout', 'garbled', 'policy']).nullish(),
  fail_times: count(FAILURES_MAX),
  fail_after_frames: count(FRAMES_MAX),
});
const carrier = z.looseObject({
  sandbox: orders.nullish(),
  extra: z.looseObject({ sandbox: orders.nullish() }).nullish(),
});

/** What a request wants to go wrong. */
export interface Faults {
  readonly delayMs: number;
  /** Undefined when every attempt is to work. */
  readonly fault: Fault | undefined;
  /** Only the first so many attempts of the request fail; undefined for every one. */
  readonly times: number | undefined;
  /** Where a stream breaks off; undefined for before it begins. */
  readonly afterFrames: number | undefined;
}

/** How a stream ends before its end. Without an error it just ends, as an upstream that has nothing to say. */
export interface Cut {
  readonly afterFrames: number;
  readonly error: UpstreamError | undefined;
}

/** Reads `sandbox`, or `extra.sandbox`, of a body whose numbers are plain. Throws ApiError for values out of range. */
export function faultsOf(body: { readonly sandbox?: unknown; readonly extra?: unknown }): Faults | undefined {
  if (body.sandbox === undefined && body.extra === undefined) return undefined;
  const { sandbox, extra } = parseWith(carrier, body);
  const switches = sandbox ?? extra?.sandbox;
  if (switches === undefined || switches === null) return undefined;
  const times = switches.fail_times ?? undefined;
  const afterFrames = switches.fail_after_frames ?? undefined;
  const fails = switches.fail ?? (times === undefined && afterFrames === undefined ? undefined : 'down');
  const fault = fails === undefined ? undefined : FAULTS[fails];
  // A cut in front of the first frame, with no fault named, is the upstream that answers nothing.
  const isEmpty = afterFrames === 0 && (switches.fail ?? undefined) === undefined;
  return { delayMs: switches.delay_ms ?? 0, fault: isEmpty ? undefined : fault, times, afterFrames };
}

/** A few keys with every number as a plain one; the body itself may hold numbers as they were written. */
export function plain(body: JsonObject, keys: readonly string[]): JsonObject {
  const present = keys.filter((key) => body[key] !== undefined);
  const value: JsonObject = Object.fromEntries(present.map((key): [string, JsonValue] => [key, body[key] ?? null]));
  return present.length === 0 ? value : JSON.parse(JSON.stringify(value));
}

/**
 * Fault injection: waits for the requested delay and throws the requested fault if this attempt is to fail at once.
 * Returns how a stream is cut later. A whole answer has no frames, so there a cut fails it at once.
 */
export async function injectFault(
  faults: Faults | undefined,
  upstream: Upstream,
  failures: FailureCounts,
  request: { readonly bytes: () => string | Buffer; readonly isStream: boolean },
): Promise<Cut | undefined> {
  upstream.signal.throwIfAborted();
  if (faults === undefined) return undefined;
  await pass(faults.delayMs, upstream);
  const { fault, afterFrames } = faults;
  if (!isDue(faults, upstream, failures, request.bytes)) return undefined;
  const error = fault && requestedFault(fault, `the request switches for the fault "${fault}"`);
  if (afterFrames !== undefined && request.isStream) return { afterFrames, error };
  throw error ?? requestedFault('server', 'the request asked for no answer');
}

/** Never counts against the upstream: one caller's trial must not take a model away from another. */
export function requestedFault(fault: Fault, detail: string): UpstreamError {
  return new UpstreamError(fault, detail, { isRequested: true });
}

/** The fault of this attempt at work that is done later; its delay is no matter of this moment. */
export function faultDue(
  faults: Faults | undefined,
  upstream: Upstream,
  failures: FailureCounts,
  bytes: () => string,
): Fault | undefined {
  if (faults === undefined || !isDue(faults, upstream, failures, bytes)) return undefined;
  return faults.fault ?? 'server';
}

function isDue(
  { fault, times, afterFrames }: Faults,
  upstream: Upstream,
  failures: FailureCounts,
  bytes: () => string | Buffer,
): boolean {
  if (fault === undefined && afterFrames === undefined) return false;
  return times === undefined || failures.isDue(keyOf(upstream, bytes()), times);
}

/** Silence longer than the upstream may be silent ends as it does on a socket. */
async function pass(delayMs: number, { timeoutMs, signal }: Upstream): Promise<void> {
  if (delayMs === 0) return;
  await setTimeout(Math.min(delayMs, timeoutMs), undefined, { signal });
  if (delayMs > timeoutMs) throw requestedFault('timeout', 'the requested delay is longer than the time limit');
}

/**
 * Frames one by one. Each yields to the event loop first, so that a long answer delays no other request and a closed
 * connection is noticed between two words.
 */
export async function* delivered<Frame>(
  frames: Iterable<Frame>,
  cut: Cut | undefined,
  signal: AbortSignal,
): AsyncIterable<Frame> {
  let sent = 0;
  for (const frame of frames) {
    await setImmediate();
    signal.throwIfAborted();
    if (sent === cut?.afterFrames) {
      if (cut.error !== undefined) throw cut.error;
      return;
    }
    yield frame;
    sent++;
  }
}

/** How often each request has failed so far. Bounded: the oldest is forgotten first. */
export class FailureCounts {
  readonly #counts = new Map<string, number>();

  /** Whether this attempt is one of the first `times`. The one that works ends the count, and the next begins anew. */
  isDue(key: string, times: number): boolean {
    const before = this.#counts.get(key) ?? 0;
    this.#counts.delete(key);
    if (before >= times) return false;
    this.#counts.set(key, before + 1);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > COUNTED_REQUESTS_MAX && oldest !== undefined) this.#counts.delete(oldest);
    return true;
  }
}

function keyOf({ address, model }: Upstream, bytes: string | Buffer): string {
  return createHash('sha256').update(`${address}\n${model}\n`).update(bytes).digest('base64');
}

import type { Catalogue } from '../catalogue/index.ts';
import { ApiError, type Fault, UpstreamError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import type { Logger } from '../log.ts';
import type { RequestTrace } from '../request-log/index.ts';
import type { Signals, Span } from '../signals/index.ts';
import type { Upstream, UpstreamPools } from '../vendors/index.ts';
import type { Candidate } from './candidates.ts';
import type { Health } from './health.ts';
import type { Latency } from './latency.ts';
import { redact, redactError } from './redact.ts';
import type { Repeat, Turn } from './turns.ts';

export interface AttemptDeps {
  readonly catalogue: Catalogue;
  readonly health: Health;
  readonly pools: UpstreamPools;
  readonly log: Logger;
  /** Present where metrics are exported. */
  readonly signals?: Signals | undefined;
}

/** Whose attempts they are, and when to give up. */
export interface AttemptContext {
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Absent where the record of the work itself names the upstream. */
  readonly trace?: RequestTrace;
  /** What the attempts are steps of, where that is not the trace's own. */
  readonly span?: Span | undefined;
}

/**
 * Tries one candidate after the other until one works; the caller of this sees one result or one error, in our own
 * words. What the request itself is to blame for is final; everything else goes to the next. Each try is one line in
 * the log.
 */
export async function firstThatWorks<Result>(
  deps: AttemptDeps,
  candidates: readonly Candidate[],
  context: AttemptContext,
  work: (candidate: Candidate, upstream: Upstream) => Promise<Result>,
  repeat: Repeat = 'call',
): Promise<Result> {
  const { signal, trace } = context;
  const turns = deps.health.turns(candidates, repeat);
  const begunMs = performance.now();
  let failed: { 'tollgate.failed_upstream': string; 'error.type': Fault } | undefined;
  for (let turn = turns.next(); turn !== undefined; turn = turns.next()) {
    const { candidate } = turn;
    if (trace !== undefined) noteAttempt(trace, candidate);
    if (failed !== undefined) trace?.span?.event('failover', { ...failed, 'tollgate.upstream': candidate.upstreamId });
    try {
      return await tryOne(deps, turn, context, (upstream) => work(candidate, upstream));
    } catch (error) {
      if (signal.aborted) throw new ApiError('request_canceled', { cause: error });
      if (!(error instanceof UpstreamError)) throw error;
      refuseFinal(error);
      turns.failed(candidate, error);
      failed = { 'tollgate.failed_upstream': candidate.upstreamId, 'error.type': error.fault };
    } finally {
      if (trace !== undefined) trace.upstreamMs = performance.now() - begunMs;
    }
  }
  throw turns.exhausted();
}

function noteAttempt(trace: RequestTrace, { upstreamId, cost }: Candidate): void {
  trace.upstreamId = upstreamId;
  trace.costPricing = cost;
}

/** What an upstream does after its answer has begun comes too late for another candidate, but not for its health. */
export function noteLateFault(
  { health, log, catalogue }: AttemptDeps,
  candidate: Candidate,
  requestId: string,
  error: UpstreamError,
): void {
  const { upstreamId, upstreamModel } = candidate;
  const line = { request_id: requestId, upstream: upstreamId, upstream_model: upstreamModel };
  redactError(catalogue.snapshot, error);
  log.warn({ ...line, ...detailsOf(error) }, 'attempt failed in its stream');
  health.noteLateFault(candidate, requestId, error);
}

/**
 * An upstream that counts more than it was asked for. The caller was served and is charged by the order, so it is no
 * strike; but the operator is billed by that upstream, and has to see it.
 */
export function noteOverclaim(
  { health, log, catalogue }: Pick<AttemptDeps, 'health' | 'log' | 'catalogue'>,
  { upstreamId, upstreamModel }: Pick<Candidate, 'upstreamId' | 'upstreamModel'>,
  requestId: string,
  claim: string,
): void {
  const line = { request_id: requestId, upstream: upstreamId, upstream_model: upstreamModel };
  const detail = redact(catalogue.snapshot, claim);
  log.warn({ ...line, detail }, 'claim beyond the order');
  health.noteOverclaim(upstreamId, upstreamModel, detail);
}

/** One try: told to the upstream's health, to the metrics and to the log. Throws what the work throws. */
export async function tryOne<Result>(
  deps: AttemptDeps,
  { candidate, permit, pauseMs }: Turn,
  context: AttemptContext,
  work: (upstream: Upstream) => Promise<Result>,
): Promise<Result> {
  const { health } = deps;
  const { requestId, signal } = context;
  try {
    if (pauseMs > 0) await health.pacing.pause(pauseMs, signal);
    const startedMs = performance.now();
    const timing = candidate.latency && beginTiming(health, candidate.latency);
    health.noteAttempt(candidate.upstreamId);
    const span = beginSpan(context, candidate);
    try {
      const result = await work({ ...upstreamOf(candidate, deps.pools, signal), span });
      health.noteSuccess(candidate, permit);
      timing?.ended('answered');
      count(deps.signals, candidate, startedMs, 'ok');
      span?.end();
      logAttempt(deps.log, candidate, requestId, startedMs);
      return result;
    } catch (error) {
      timing?.ended('failed');
      const isFault = !signal.aborted && error instanceof UpstreamError;
      const outcome = isFault ? error.fault : 'canceled';
      count(deps.signals, candidate, startedMs, outcome);
      span?.end(outcome);
      if (isFault) {
        redactError(deps.catalogue.snapshot, error);
        logAttempt(deps.log, candidate, requestId, startedMs, error);
        health.noteFault(candidate, permit, requestId, error);
      }
      throw error;
    }
  } finally {
    health.noteEnd(permit);
  }
}

/** By the clock and not by the monotonic one: a moved clock costs one sample, and a test can move it. */
function beginTiming(health: Health, latency: Latency): { ended(how: 'answered' | 'failed'): void } {
  const startedMs = health.nowMs();
  latency.begin(startedMs);
  return {
    ended(how) {
      const nowMs = health.nowMs();
      if (how === 'answered') latency.note(nowMs - startedMs, nowMs);
      else latency.noteAtLeast(nowMs - startedMs, nowMs);
    },
  };
}

function beginSpan({ span, trace }: AttemptContext, { upstreamId, upstreamModel }: Candidate): Span | undefined {
  const attributes = { 'tollgate.upstream': upstreamId, 'gen_ai.request.model': upstreamModel };
  return (span ?? trace?.span)?.child('attempt', 'internal', attributes);
}

/** Upstreams and their models are those of the configuration, so there are not many series. */
function count(signals: Signals | undefined, candidate: Candidate, startedMs: number, outcome: string): void {
  const { upstreamId, upstreamModel } = candidate;
  signals?.attemptEnded(upstreamId, upstreamModel, outcome, (performance.now() - startedMs) / 1000);
}

export function upstreamOf(candidate: Candidate, pools: UpstreamPools, signal: AbortSignal): Upstream {
  const { upstreamModel: model, address, apiKey, dialect, credential, betas, serverTools, timeoutMs } = candidate;
  return { model, address, apiKey, dialect, credential, betas, serverTools, timeoutMs, signal, pools };
}

/** The request is wrong wherever it goes. */
function refuseFinal(error: UpstreamError): void {
  if (error.fault === 'client') throw new ApiError('upstream_rejected', { cause: error });
  if (error.fault === 'policy') throw new ApiError('content_rejected', { cause: error });
}

function logAttempt(
  log: Logger,
  candidate: Candidate,
  requestId: string,
  startedMs: number,
  error?: UpstreamError,
): void {
  const line = {
    request_id: requestId,
    upstream: candidate.upstreamId,
    upstream_model: candidate.upstreamModel,
    ms: Math.round((performance.now() - startedMs) * 100) / 100,
  };
  if (error !== undefined) {
    log.warn({ ...line, ...detailsOf(error) }, 'attempt failed');
    return;
  }
  log.info(line, 'attempt');
  killPoint(log, 'upstream.attempt.after-call', requestId);
}

function detailsOf({ fault, message }: UpstreamError): { fault: Fault; detail: string } {
  return { fault, detail: message.slice(0, DETAIL_CHARS_MAX) };
}

const DETAIL_CHARS_MAX = 500;

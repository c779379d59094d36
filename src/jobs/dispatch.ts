import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, UpstreamError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { type Candidate, candidateOf, type Turn, type Turns, tryOne, upstreamOf } from '../routing/index.ts';
import type { Span } from '../signals/index.ts';
import type { Adopted, Submitted, TaskOrder } from '../vendors/index.ts';
import { allSettledOrThrow } from './all-settled.ts';
import { jobCandidates } from './candidates.ts';
import { collectNow, noteUsage } from './collect.ts';
import type { EngineDeps } from './engine-deps.ts';
import { type Attempt, failure, type LeasedJob, missing } from './job.ts';
import { forVendor, taskWorkOf } from './task-work.ts';

const DISPATCH_AGAIN_MS = { first: 2_000, most: 30_000 };
const LAST_TRY_MS = 1_000;
const STORE_AGAIN_MS = { first: 250, most: 10_000 };

/**
 * Finds upstreams for what is missing. Each call is written down before it is made. A plain refusal goes to the next
 * candidate; what may have been accepted is never asked for again. Undefined: no upstream took it, and it waits.
 */
export async function dispatch(
  engine: EngineDeps,
  leased: LeasedJob,
  signal: AbortSignal,
  span?: Span,
): Promise<LeasedJob | undefined> {
  const { deps } = engine;
  const turns = deps.health.turns(jobCandidates(deps, leased.job), 'submission');
  let current = leased;
  let answered: readonly Attempt[] = [];
  while (deps.clock.now() < leased.job.dispatchDeadlineAt) {
    const turn = turns.next();
    if (turn === undefined) return exhausted(engine, current, turns, answered);
    const begun = await engine.queue.save(current, { attempts: newAttempts(engine, current, turn.candidate) });
    killPoint(deps.log, 'job.dispatch.before-call', leased.job.id);
    const calling = begun.attempts.filter(({ state }) => state === 'calling');
    const context = { turns, turn, signal, span };
    answered = await allSettledOrThrow(calling.map((attempt) => call(engine, begun, attempt, context)));
    killPoint(deps.log, 'job.dispatch.after-call', leased.job.id);
    current = await engine.queue.save(begun, outcome(answered));
    killPoint(deps.log, 'job.dispatch.after-commit', leased.job.id);
    if (missing(current.job, current.attempts) === 0) return current;
  }
  return current;
}

/** No candidate is left to try now. What every upstream is unfit for has failed; everything else waits. */
async function exhausted(
  engine: EngineDeps,
  current: LeasedJob,
  turns: Turns,
  answered: readonly Attempt[],
): Promise<LeasedJob | undefined> {
  // In part accepted: it goes on with that.
  if (current.job.status === 'running') return current;
  if (turns.isRejected) {
    const refused = answered.filter(({ state }) => state === 'refused');
    const failed = refused.map((one) => ({ ...one, ...failure('upstream_rejected', one.detail ?? '') }));
    return engine.queue.save(current, { attempts: failed });
  }
  await engine.queue.save(current, { dueAt: againAt(engine, current) });
  return undefined;
}

/** As many calls as the candidate needs for what is missing. */
function newAttempts({ deps }: EngineDeps, { job, attempts }: LeasedJob, candidate: Candidate): Attempt[] {
  const work = taskWorkOf(candidate.vendor, job.kind);
  const perCall = work?.perCall(forVendor(deps, job.request), candidate.upstreamModel) ?? 1;
  const now = deps.clock.now();
  const made: Attempt[] = [];
  for (let rest = missing(job, attempts); rest > 0; rest -= perCall) {
    made.push({
      number: attempts.length + made.length,
      upstreamId: candidate.upstreamId,
      upstreamModel: candidate.upstreamModel,
      count: Math.min(rest, perCall),
      state: 'calling',
      task: null,
      outputs: null,
      collected: null,
      errorCode: null,
      detail: null,
      tries: 0,
      startedAt: now,
      updatedAt: now,
    });
  }
  return made;
}

interface TurnContext {
  readonly turns: Turns;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly span: Span | undefined;
}

/** Makes one call and tells what became of it. */
async function call(engine: EngineDeps, leased: LeasedJob, attempt: Attempt, context: TurnContext): Promise<Attempt> {
  const { deps } = engine;
  const { job } = leased;
  const { turns, turn, signal, span } = context;
  const { candidate } = turn;
  const work = taskWorkOf(candidate.vendor, job.kind);
  if (work === undefined) throw new Error(`vendor ${candidate.vendor.name} makes no ${job.kind}`);
  try {
    const order = orderOf(engine, leased, attempt);
    const request = forVendor(deps, job.request);
    deps.health.latencies.at(candidate.upstreamId, candidate.upstreamModel, 'result').begin(deps.clock.nowMs());
    const submitted = await tryOne(deps, turn, { requestId: job.requestId, signal, span }, (upstream) =>
      work.submit(request, order, upstream),
    );
    if (submitted.state === 'succeeded') deps.health.latencies.noteTask(attempt, deps.clock.nowMs());
    return await afterSubmit(engine, leased, attempt, submitted, signal);
  } catch (error) {
    if (error instanceof UpstreamError) turns.failed(candidate, error);
    const lost = refused(engine, attempt, error);
    const isUncertain = error instanceof UpstreamError && error.isUncertain && !signal.aborted;
    return isUncertain && lost.state === 'failed' ? adoptNow(engine, leased, lost, signal) : lost;
  }
}

/**
 * A submission that may have been accepted although its answer was lost. Only a task that is found changes anything: that
 * none is found right after the call proves nothing, since the upstream may still be at work on accepting it.
 */
async function adoptNow(engine: EngineDeps, leased: LeasedJob, lost: Attempt, signal: AbortSignal): Promise<Attempt> {
  const adopted = await adopt(engine, leased, lost, signal).catch((error: unknown) => {
    if (error instanceof UpstreamError && !signal.aborted) return undefined;
    throw error;
  });
  if (adopted === undefined || adopted.state === 'unknown') return lost;
  return afterSubmit(engine, leased, { ...lost, state: 'calling', errorCode: null, detail: null }, adopted, signal);
}

function orderOf({ deps }: EngineDeps, { job }: LeasedJob, { number, count, startedAt }: Attempt): TaskOrder {
  const startWithinMs = job.dispatchDeadlineAt.getTime() - deps.clock.nowMs();
  return { id: `${job.id}-${number}`, count, startWithinMs: Math.max(startWithinMs, 1_000), calledAt: startedAt };
}

async function afterSubmit(
  engine: EngineDeps,
  leased: LeasedJob,
  attempt: Attempt,
  submitted: Submitted,
  signal: AbortSignal,
): Promise<Attempt> {
  const updatedAt = engine.deps.clock.now();
  if (submitted.state === 'accepted') return { ...attempt, state: 'accepted', task: submitted.task, updatedAt };
  noteUsage(engine, leased.job, attempt, submitted.usage);
  let stored = await collectNow(engine, leased, attempt, submitted.outputs, signal);
  // There is no other copy of what is here, so it is held until the store is back. It keeps its step occupied: while results
  // cannot be stored, no more are ordered than there are steps.
  for (let delayMs = STORE_AGAIN_MS.first; isUnstored(stored); delayMs = Math.min(delayMs * 2, STORE_AGAIN_MS.most)) {
    await sleep(delayMs, undefined, { signal });
    stored = await collectNow(engine, leased, stored, submitted.outputs, signal);
  }
  return stored;
}

function isUnstored({ state, outputs }: Attempt): boolean {
  return state === 'ready' && outputs === null;
}

function refused({ deps }: EngineDeps, attempt: Attempt, error: unknown): Attempt {
  const updatedAt = deps.clock.now();
  if (error instanceof ApiError) return { ...attempt, ...failure('upstream_rejected', error.message), updatedAt };
  if (!(error instanceof UpstreamError)) throw error;
  const detail = error.message.slice(0, 500);
  if (error.fault === 'client') return { ...attempt, ...failure('upstream_rejected', detail), updatedAt };
  if (error.fault === 'policy') return { ...attempt, ...failure('content_rejected', detail), updatedAt };
  if (!error.isUncertain) return { ...attempt, state: 'refused', detail, updatedAt };
  const code = error.fault === 'timeout' ? 'upstream_timeout' : 'upstream_failed';
  return { ...attempt, ...failure(code, detail), updatedAt };
}

/** A job runs from the moment that any upstream has accepted any of it. */
function outcome(attempts: readonly Attempt[]): { attempts: readonly Attempt[]; status?: 'running' } {
  const isAccepted = attempts.some(({ state }) => state === 'accepted' || state === 'ready' || state === 'collected');
  return isAccepted ? { attempts, status: 'running' } : { attempts };
}

/**
 * Soon at first, then less often: by then a breaker may let it through, or another upstream been added. There is a last try
 * right before the deadline.
 */
function againAt({ deps }: EngineDeps, { job }: LeasedJob): Date {
  const nowMs = deps.clock.nowMs();
  const waitedMs = nowMs - job.createdAt.getTime();
  const delayMs = Math.min(Math.max(waitedMs / 4, DISPATCH_AGAIN_MS.first), DISPATCH_AGAIN_MS.most);
  const deadlineMs = job.dispatchDeadlineAt.getTime();
  const lastMs = deadlineMs - LAST_TRY_MS;
  return new Date(nowMs < lastMs ? Math.min(nowMs + delayMs, lastMs) : deadlineMs);
}

/**
 * The worker before this one died while it waited for an answer. What can be found again at the upstream is adopted, what
 * is known not to have arrived can be sent elsewhere, and what cannot be known has failed: it is not asked for twice.
 */
export async function recover(engine: EngineDeps, leased: LeasedJob, signal: AbortSignal): Promise<LeasedJob> {
  const lost = leased.attempts.filter(({ state }) => state === 'calling');
  const found = await allSettledOrThrow(lost.map((attempt) => lookFor(engine, leased, attempt, signal)));
  killPoint(engine.deps.log, 'job.recover.after-call', leased.job.id);
  return engine.queue.save(leased, outcome(found));
}

async function lookFor(engine: EngineDeps, leased: LeasedJob, attempt: Attempt, signal: AbortSignal): Promise<Attempt> {
  const { deps } = engine;
  const unknown = { ...attempt, ...failure('upstream_failed', 'nobody knows what became of the call') };
  try {
    const adopted = await adopt(engine, leased, attempt, signal);
    if (adopted === undefined) return { ...attempt, state: 'refused', detail: 'the call never arrived' };
    if (adopted.state === 'unknown') return unknown;
    return await afterSubmit(engine, leased, attempt, adopted, signal);
  } catch (error) {
    // An upstream that cannot be asked is asked again, but not for ever.
    const isLate = deps.clock.nowMs() >= attempt.startedAt.getTime() + deps.jobMinutes[leased.job.kind] * 60_000;
    if (isLate && error instanceof UpstreamError) return unknown;
    throw error;
  }
}

/** Unknown where the upstream is no longer configured, or its vendor has no way to tell. */
async function adopt(engine: EngineDeps, leased: LeasedJob, attempt: Attempt, signal: AbortSignal): Promise<Adopted> {
  const { deps } = engine;
  const candidate = candidateOf(deps, attempt.upstreamId, attempt.upstreamModel);
  const work = candidate && taskWorkOf(candidate.vendor, leased.job.kind);
  if (candidate === undefined || work?.adopt === undefined) return { state: 'unknown' };
  const upstream = upstreamOf(candidate, deps.pools, signal);
  return work.adopt(forVendor(deps, leased.job.request), orderOf(engine, leased, attempt), upstream);
}

import { UpstreamError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { pollTask } from '../leased/index.ts';
import { POLL_AFTER_MS_MAX, POLL_MS, STORAGE_RETRY_MS, UNUSABLE_TRIES_MAX } from '../limits.ts';
import { redact } from '../routing/index.ts';
import type { Progress, Vendor } from '../vendors/index.ts';
import { allSettledOrThrow } from './all-settled.ts';
import { collectAll, collectNow, noteUsage } from './collect.ts';
import type { EngineDeps } from './engine-deps.ts';
import { type Attempt, failure, type LeasedJob } from './job.ts';
import { taskWorkOf } from './task-work.ts';

/** While an upstream works, more than this is not shown. */
const PROGRESS_UNFINISHED_MAX = 99;
const AGAIN_MS = { first: 3_000, most: 60_000 };

/** Asks after everything that upstreams are working on. Undefined: they still are, and the job waits. */
export async function poll(engine: EngineDeps, leased: LeasedJob, signal: AbortSignal): Promise<LeasedJob | undefined> {
  const waiting = leased.attempts.filter(({ state }) => state === 'accepted');
  const results = await allSettledOrThrow(waiting.map((attempt) => pollAttempt(engine, leased, attempt, signal)));
  killPoint(engine.deps.log, 'job.poll.after-call', leased.job.id);
  const changed = results.map(({ attempt }) => attempt).filter((attempt, place) => attempt !== waiting[place]);
  const progress = progressOf(leased, results);
  if (changed.some(({ state }) => state !== 'accepted')) {
    return engine.queue.save(leased, { attempts: changed, progress });
  }
  const dueAt = changed.some(({ tries }) => tries > 0) ? againAt(engine, changed) : nextPollAt(engine, leased, results);
  await engine.queue.save(leased, { attempts: changed, progress, dueAt });
  return undefined;
}

/** Brings home what is ready. Undefined: some of it cannot be had or kept just now, and the job waits. */
export async function collect(
  engine: EngineDeps,
  leased: LeasedJob,
  signal: AbortSignal,
): Promise<LeasedJob | undefined> {
  const ready = leased.attempts.filter(({ state }) => state === 'ready');
  const attempts = await allSettledOrThrow(ready.map((attempt) => collectAttempt(engine, leased, attempt, signal)));
  const waiting = attempts.filter(({ state }) => state === 'ready');
  if (waiting.length === 0) return engine.queue.save(leased, { attempts });
  await engine.queue.save(leased, { attempts, dueAt: againAt(engine, waiting) });
  return undefined;
}

async function collectAttempt(
  engine: EngineDeps,
  leased: LeasedJob,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Attempt> {
  if (attempt.outputs !== null) return collectAll(engine, leased, attempt, attempt.outputs, signal);
  const updatedAt = engine.deps.clock.now();
  if (updatedAt.getTime() - attempt.updatedAt.getTime() > STORAGE_RETRY_MS) {
    return { ...attempt, ...failure('internal_error', 'the results could not be stored'), updatedAt };
  }
  return (await pollAttempt(engine, leased, attempt, signal)).attempt;
}

/** Backs off: the longer it has waited, the longer it may take. */
function againAt({ deps }: EngineDeps, attempts: readonly Attempt[]): Date {
  const nowMs = deps.clock.nowMs();
  const waitedMs = nowMs - Math.min(...attempts.map(({ updatedAt }) => updatedAt.getTime()));
  return new Date(nowMs + Math.min(Math.max(waitedMs / 4, AGAIN_MS.first), AGAIN_MS.most));
}

interface PollResult {
  readonly attempt: Attempt;
  readonly percent: number;
  /** How long the upstream wants not to be asked again. */
  readonly pollAfterMs?: number;
}

async function pollAttempt(
  engine: EngineDeps,
  leased: LeasedJob,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<PollResult> {
  const workOf = (vendor: Vendor) => taskWorkOf(vendor, leased.job.kind);
  const progress = await pollTask(engine.deps, attempt, { job_id: leased.id }, signal, workOf);
  // An upstream that was taken out of the configuration may come back; the time limit ends the waiting.
  if (progress === undefined) return { attempt, percent: 0 };
  if (!(progress instanceof UpstreamError)) return afterPoll(engine, leased, attempt, progress, signal);
  return {
    attempt: progress.fault === 'garbled' ? afterGarbledAnswer(engine, attempt, progress) : attempt,
    percent: 0,
  };
}

/** Once may be bad luck on the way; an answer that stays garbled is what the upstream has to say. */
function afterGarbledAnswer({ deps }: EngineDeps, attempt: Attempt, { message }: UpstreamError): Attempt {
  const tries = attempt.tries + 1;
  if (tries < UNUSABLE_TRIES_MAX) return { ...attempt, tries };
  return { ...attempt, ...failure('upstream_failed', message.slice(0, 500)), tries, updatedAt: deps.clock.now() };
}

async function afterPoll(
  engine: EngineDeps,
  leased: LeasedJob,
  attempt: Attempt,
  progress: Progress,
  signal: AbortSignal,
): Promise<PollResult> {
  const { clock, catalogue, health } = engine.deps;
  switch (progress.state) {
    case 'running':
      return {
        attempt: attempt.tries > 0 ? { ...attempt, tries: 0 } : attempt,
        percent: progress.percent ?? 0,
        pollAfterMs: progress.pollAfterMs ?? 0,
      };
    case 'succeeded':
      // A result that was ready before and could not be stored is polled for again.
      if (attempt.state === 'accepted') health.latencies.noteTask(attempt, clock.nowMs());
      noteUsage(engine, leased.job, attempt, progress.usage);
      return { attempt: await collectNow(engine, leased, attempt, progress.outputs, signal), percent: 100 };
    case 'failed': {
      const detail = redact(catalogue.snapshot, progress.detail).slice(0, 500);
      return { attempt: { ...attempt, ...failure(progress.code, detail), updatedAt: clock.now() }, percent: 100 };
    }
  }
}

/** By how much of what was asked for is done. */
function progressOf({ job, attempts }: LeasedJob, results: readonly PollResult[]): number {
  const done = attempts.filter(({ state }) => state === 'collected' || state === 'failed' || state === 'ready');
  const sum =
    done.reduce((total, { count }) => total + count * 100, 0) +
    results.reduce((total, { attempt, percent }) => total + attempt.count * Math.min(Math.max(percent, 0), 100), 0);
  return Math.min(Math.floor(sum / job.wanted), PROGRESS_UNFINISHED_MAX);
}

/**
 * The longer it has taken, the longer it may take: a quarter of that is waited, within the bounds of the kind, and no less
 * than an upstream wants.
 */
function nextPollAt({ deps }: EngineDeps, { job }: LeasedJob, results: readonly PollResult[]): Date {
  const { first, most } = POLL_MS[job.kind];
  const nowMs = deps.clock.nowMs();
  const runningMs = nowMs - (job.acceptedAt ?? job.createdAt).getTime();
  const wantedMs = Math.min(Math.max(...results.map(({ pollAfterMs = 0 }) => pollAfterMs)), POLL_AFTER_MS_MAX);
  return new Date(nowMs + Math.max(Math.min(Math.max(runningMs / 4, first), most), wantedMs));
}

/** The time that upstreams have for their work is over: what they have not finished has failed. */
export function giveUp(engine: EngineDeps, leased: LeasedJob): Promise<LeasedJob> {
  const { clock, health } = engine.deps;
  const updatedAt = clock.now();
  const unfinished = leased.attempts.filter(({ state }) => state === 'accepted');
  for (const attempt of unfinished) health.latencies.noteTask(attempt, updatedAt.getTime());
  const attempts = unfinished.map((attempt) => ({
    ...attempt,
    ...failure('upstream_timeout', 'the time for it is over'),
    updatedAt,
  }));
  return engine.queue.save(leased, { attempts });
}

import { UpstreamError } from '../errors.ts';
import { POLL_MS } from '../limits.ts';
import { candidateOf, upstreamOf } from '../routing/index.ts';
import type { Progress } from '../vendors/index.ts';
import { collectNow } from './collect.ts';
import type { EngineParts } from './engine-parts.ts';
import { type Attempt, failure, type HeldJob } from './job.ts';
import { taskWorkOf } from './task-work.ts';
import { together } from './together.ts';

/** While an upstream works, more than this is not shown. */
const PROGRESS_UNFINISHED_MAX = 99;

/** Asks after everything that upstreams are working on. Undefined: they still are, and the job waits. */
export async function poll(engine: EngineParts, held: HeldJob, signal: AbortSignal): Promise<HeldJob | undefined> {
  const waiting = held.attempts.filter(({ state }) => state === 'accepted');
  const asked = await together(waiting.map((attempt) => ask(engine, held, attempt, signal)));
  engine.parts.log.trace({ job_id: held.job.id }, 'tasks asked after');
  const changed = asked.map(({ attempt }) => attempt).filter(({ state }) => state !== 'accepted');
  const progress = progressOf(held, asked);
  if (changed.length > 0) return engine.queue.save(held, { attempts: changed, progress });
  await engine.queue.save(held, { progress, dueAt: nextPollAt(engine, held) });
  return undefined;
}

interface Asked {
  readonly attempt: Attempt;
  readonly percent: number;
}

async function ask(engine: EngineParts, held: HeldJob, attempt: Attempt, signal: AbortSignal): Promise<Asked> {
  const { parts } = engine;
  const candidate = candidateOf(parts.catalogue, attempt.upstreamId, attempt.upstreamModel);
  const work = candidate && taskWorkOf(candidate.vendor, held.job.kind);
  // An upstream that was taken out of the configuration may come back; the time limit ends the waiting.
  if (candidate === undefined || work?.poll === undefined || attempt.task === null) return { attempt, percent: 0 };
  try {
    const progress = await work.poll(attempt.task, upstreamOf(candidate, parts.pools, signal));
    return await told(engine, held, attempt, progress, signal);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // Asking can be done again; only the answer counts.
    parts.log.warn(
      { job_id: held.job.id, upstream: attempt.upstreamId, fault: error.fault, detail: error.message.slice(0, 500) },
      'an upstream could not be asked after a job',
    );
    return { attempt, percent: 0 };
  }
}

async function told(
  engine: EngineParts,
  held: HeldJob,
  attempt: Attempt,
  progress: Progress,
  signal: AbortSignal,
): Promise<Asked> {
  switch (progress.state) {
    case 'running':
      return { attempt, percent: progress.percent ?? 0 };
    case 'succeeded':
      // Where they cannot be stored now, they are asked for again.
      return { attempt: (await collectNow(engine, held, attempt, progress.outputs, signal)) ?? attempt, percent: 100 };
    case 'failed': {
      const updatedAt = engine.parts.clock.now();
      return {
        attempt: { ...attempt, ...failure(progress.code, progress.detail.slice(0, 500)), updatedAt },
        percent: 100,
      };
    }
  }
}

/** By how much of what was asked for is done. */
function progressOf({ job, attempts }: HeldJob, asked: readonly Asked[]): number {
  const done = attempts.filter(({ state }) => state === 'collected' || state === 'failed' || state === 'ready');
  const sum =
    done.reduce((total, { count }) => total + count * 100, 0) +
    asked.reduce((total, { attempt, percent }) => total + attempt.count * Math.min(Math.max(percent, 0), 100), 0);
  return Math.min(Math.floor(sum / job.wanted), PROGRESS_UNFINISHED_MAX);
}

/** The longer it has taken, the longer it may take: a quarter of that is waited, within the bounds of the kind. */
function nextPollAt({ parts }: EngineParts, { job }: HeldJob): Date {
  const { first, most } = POLL_MS[job.kind];
  const nowMs = parts.clock.nowMs();
  const runningMs = nowMs - (job.acceptedAt ?? job.createdAt).getTime();
  return new Date(nowMs + Math.min(Math.max(runningMs / 4, first), most));
}

/** The time that upstreams have for their work is over: what they have not finished has failed. */
export function giveUp(engine: EngineParts, held: HeldJob): Promise<HeldJob> {
  const updatedAt = engine.parts.clock.now();
  const attempts = held.attempts
    .filter(({ state }) => state === 'accepted')
    .map((attempt) => ({ ...attempt, ...failure('upstream_timeout', 'the time for it is over'), updatedAt }));
  return engine.queue.save(held, { attempts });
}

import type { Estimate } from '../billing/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { MicroCredits } from '../credits.ts';
import type { JsonObject } from '../json.ts';
import type { Fenced } from '../leased/index.ts';
import type { StoredMedia } from '../objects/index.ts';
import type { MediaRequest } from '../schemas/index.ts';
import type { JobFault } from './faults.ts';

export type JobKind = MediaRequest<unknown>['kind'];

/** `canceled` is read from history only; no job enters it. */
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'queue_expired' | 'canceled';

const TERMINAL: ReadonlySet<JobStatus> = new Set(['succeeded', 'failed', 'queue_expired', 'canceled']);

export function isTerminal({ status }: Pick<Job, 'status'>): boolean {
  return TERMINAL.has(status);
}

export interface Job {
  readonly id: string;
  readonly accountId: string;
  readonly kind: JobKind;
  readonly model: string;
  readonly status: JobStatus;
  readonly progress: number;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
  readonly acceptedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly dispatchDeadlineAt: Date;
  readonly errorCode: JobFault | null;
  readonly charged: MicroCredits | null;
}

/** A job that this process works on. */
export interface LeasedJob extends Fenced {
  readonly job: Job & {
    readonly groups: readonly string[];
    readonly endpoint: Endpoint;
    readonly wanted: number;
    readonly requestId: string;
    readonly reservationId: string;
    readonly request: MediaRequest<StoredMedia>;
    /** What was estimated when the credits were held. */
    readonly estimate: Estimate;
    /** Of the request that created it, where its trace was sampled. */
    readonly traceparent?: string;
  };
  readonly attempts: readonly Attempt[];
}

/**
 * One call to one upstream for some of a job's results. `calling` is written before the call; a job that is taken up
 * with one of these was left by a worker that died. `refused` can be made good by another, `failed` cannot.
 */
export interface Attempt {
  readonly number: number;
  readonly upstreamId: string;
  readonly upstreamModel: string;
  readonly count: number;
  readonly state: 'calling' | 'refused' | 'accepted' | 'ready' | 'collected' | 'failed';
  readonly task: JsonObject | null;
  /** Where the results of a `ready` one are; null when they came with an answer, and can be had by asking again. */
  readonly outputs: readonly OutputPlace[] | null;
  readonly collected: readonly Collected[] | null;
  readonly errorCode: JobFault | null;
  /** The upstream's own words; never shown to a caller. */
  readonly detail: string | null;
  /** How often in a row what it brought could not be used. */
  readonly tries: number;
  readonly startedAt: Date;
  readonly updatedAt: Date;
}

/** At an address that needs no credential, or at a path behind the upstream's credential. */
export type OutputPlace = ({ readonly url: string } | { readonly path: string }) & { readonly isThumbnail: boolean };

/** A result that lies in the object store. */
export interface Collected {
  readonly key: string;
  readonly kind: JobKind | 'thumbnail';
  readonly mimeType: string;
  readonly bytes: number;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly seconds?: number | undefined;
}

/** What an attempt becomes that brought nothing. `detail` is for the operator only. */
export function failure(errorCode: JobFault, detail: string): Pick<Attempt, 'state' | 'errorCode' | 'detail'> {
  return { state: 'failed', errorCode, detail };
}

/** A job that is over, and what it brought. */
export interface EndedJob {
  readonly leased: LeasedJob;
  readonly status: 'succeeded' | 'failed' | 'queue_expired';
  readonly errorCode: JobFault | null;
  readonly delivered: readonly Collected[];
}

export type Step = 'recover' | 'collect' | 'poll' | 'give up' | 'dispatch' | 'expire' | 'end';

/** How long an upstream may work on what it accepted, in minutes. */
export type JobMinutes = Readonly<Record<JobKind, number>>;

/** What a job needs next. The whole life of a job is in here; everything else does as it says. */
export function nextStep({ job, attempts }: Pick<LeasedJob, 'job' | 'attempts'>, now: Date, minutes: JobMinutes): Step {
  const states = new Set(attempts.map(({ state }) => state));
  if (states.has('calling')) return 'recover';
  if (states.has('ready')) return 'collect';
  if (states.has('accepted')) return now >= giveUpAt(job, attempts, minutes) ? 'give up' : 'poll';
  // What was accepted in part is not asked for again elsewhere: it ends with what was delivered.
  if (job.status === 'running' || missing(job, attempts) === 0) return 'end';
  return now >= job.dispatchDeadlineAt ? 'expire' : 'dispatch';
}

/** How many results no upstream has been found for yet. */
export function missing({ wanted }: { readonly wanted: number }, attempts: readonly Attempt[]): number {
  return attempts.reduce((rest, { state, count }) => (state === 'refused' ? rest : rest - count), wanted);
}

/** An upstream that accepted a job and never finishes it is not waited for without end. */
function giveUpAt({ kind }: Pick<Job, 'kind'>, attempts: readonly Attempt[], minutes: JobMinutes): Date {
  const since = Math.min(...attempts.filter((one) => one.state === 'accepted').map((one) => one.startedAt.getTime()));
  return new Date(since + minutes[kind] * 60_000);
}

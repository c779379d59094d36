import { randomUUID, randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../accounts/index.ts';
import { isRefusal, measureMedia, orPrecheckFailed, quote } from '../billing/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import { whileBusy } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import { killPoint } from '../kill-point.ts';
import { DISPATCH_DEADLINE_MS, PREPARATION_LEASE_MS } from '../limits.ts';
import { discardInputs } from '../objects/index.ts';
import { inPublishedWords, modelFor } from '../routing/index.ts';
import { type MediaRequest, type MediaSource, slots, urlsIn } from '../schemas/index.ts';
import { inMemoryMedia, type Media } from '../vendors/index.ts';
import { type AdmitJob, type Admitted, type JobApplicant, judgeKnown } from './admission.ts';
import { candidatesOf } from './candidates.ts';
import type { JobDeps } from './deps.ts';
import type { Job } from './job.ts';
import { claimKey, dropClaim, type IdempotencyKey, selectKeys } from './keys-store.ts';
import { type Prepared, prepareMedia } from './prepare.ts';
import { selectJob } from './store.ts';
import { forVendor } from './task-work.ts';

export interface CreateDeps extends JobDeps {
  readonly admitJob: AdmitJob;
}

export interface CreateOrder {
  readonly endpoint: Endpoint;
  readonly requestId: string;
  readonly request: MediaRequest<MediaSource>;
  readonly key: Pick<IdempotencyKey, 'key' | 'fingerprint' | 'derivedOf'> | undefined;
  readonly signal: AbortSignal;
  /** What the job's later steps are linked to. */
  readonly traceparent: string | undefined;
}

export interface Created {
  readonly job: Job;
  /** The job was made by an earlier request with the same key. */
  readonly isReplay: boolean;
  /** Undefined for a replay, which holds nothing of its own. */
  readonly reservationId: string | undefined;
}

/**
 * Turns a checked request into a durable job with its credits held, or finds the job that an earlier request with the same
 * key has become. Throws ApiError, and then nothing is held, kept or asked of an upstream.
 */
export async function createJob(deps: CreateDeps, caller: Caller, order: CreateOrder): Promise<Created> {
  const { accountId } = caller;
  const key = order.key && { ...order.key, accountId, credential: caller.credential };
  // First of all: a replay must not depend on what has become of the model since.
  const known = key && (await replayOf(deps, key));
  if (known !== undefined) await discardInputs(deps, uploadsOf(order.request));
  const admitted: NewlyAdmitted = known ?? (await admit(deps, caller, order, key));
  const job = admitted.job ?? (await selectJob(deps.db, accountId, admitted.jobId));
  if (job === undefined) throw new Error(`job ${admitted.jobId} was made and is not there`);
  return { job, isReplay: admitted.isReplay, reservationId: admitted.reservationId };
}

/** With what the admission knows already of a job that is new. */
interface NewlyAdmitted extends Admitted {
  readonly job?: Job;
  readonly reservationId?: string;
}

async function replayOf(deps: CreateDeps, key: IdempotencyKey): Promise<Admitted | undefined> {
  if (key.derivedOf === 'first attempt') return undefined;
  const [known] = await orPrecheckFailed(() => whileBusy(() => selectKeys(deps.db, [key])));
  const verdict = judgeKnown(key, undefined, known, deps.clock.now());
  if (verdict instanceof ApiError) throw verdict;
  return verdict;
}

async function admit(
  deps: CreateDeps,
  caller: Caller,
  order: CreateOrder,
  key: IdempotencyKey | undefined,
): Promise<NewlyAdmitted> {
  const model = modelFor(deps, caller, order.request.model, order.endpoint);
  const request = inPublishedWords(model, order.request);
  candidatesOf(deps, caller, model, unread(request));
  const measures = measureMedia(request, order.endpoint, model);
  const quoted = quote(model.pricing, measures.selectors, measures.units);
  // What is only passed on is not fetched here; an upstream may, so it must be something that could be.
  for (const url of urlsIn(request.extra)) deps.guardedFetch.check(url);
  const claim = await claimFor(deps, order, key);
  if (typeof claim === 'object') {
    await discardInputs(deps, uploadsOf(order.request));
    return claim;
  }
  let prepared: Prepared | undefined;
  try {
    prepared = await prepareMedia(deps, caller.accountId, request, order.signal);
    // Some models are particular about what a picture is, and that is known only now.
    if (prepared.inputs.length > 0) candidatesOf(deps, caller, model, forVendor(deps, prepared.request));
    const applicant = applicantFor(deps, caller, order, prepared, { measures, quoted });
    const admitted = await deps.admitJob({ ...applicant, key, claim });
    if (admitted.isReplay) {
      await discardInputs(deps, prepared.inputs);
      return admitted;
    }
    return { ...admitted, job: queuedJob(applicant.job), reservationId: applicant.job.reservationId };
  } catch (error) {
    // With the database unavailable the job may have been committed; then its inputs must stay.
    if (isRefusal(error)) await discardInputs(deps, prepared?.inputs ?? []);
    if (key !== undefined && claim !== undefined) await dropClaim(deps.db, key, claim).catch(() => undefined);
    throw error;
  }
}

interface Priced {
  readonly measures: ReturnType<typeof measureMedia>;
  readonly quoted: ReturnType<typeof quote>;
}

function applicantFor(
  { clock }: CreateDeps,
  { accountId, keyId, groups }: Caller,
  { endpoint, requestId, request, traceparent }: CreateOrder,
  prepared: Prepared,
  { measures, quoted }: Priced,
): Omit<JobApplicant, 'key' | 'claim'> {
  const createdAt = clock.now();
  const [jobId, reservationId] = [newId('job'), randomUUIDv7()];
  const shared = { accountId, keyId, requestId, model: request.model, endpoint };
  return {
    job: {
      ...shared,
      id: jobId,
      kind: request.kind,
      groups,
      wanted: request.kind === 'video' ? 1 : request.n,
      estimate: measures.units,
      reservationId,
      request: prepared.request,
      traceparent,
      createdAt,
      dispatchDeadlineAt: new Date(createdAt.getTime() + DISPATCH_DEADLINE_MS),
    },
    reservation: { ...shared, id: reservationId, jobId, amount: quoted.amount, price: quoted.priceText },
    inputs: prepared.inputs,
  };
}

/** A job as it is at its admission. */
function queuedJob({ id, accountId, kind, model, createdAt, dispatchDeadlineAt }: JobApplicant['job']): Job {
  const nothing = { updatedAt: null, acceptedAt: null, finishedAt: null, errorCode: null, charged: null };
  return { id, accountId, kind, model, status: 'queued', progress: 0, createdAt, dispatchDeadlineAt, ...nothing };
}

/**
 * Where media have to be fetched first, requests with the same key are told to wait meanwhile; one that comes too late
 * for that is given the first one's job. Without any, the admission itself is quick enough to be waited for.
 */
async function claimFor(
  deps: CreateDeps,
  { request }: CreateOrder,
  key: IdempotencyKey | undefined,
): Promise<string | Admitted | undefined> {
  // A retry comes when its first attempt was answered or broken off, and then nothing is being prepared; of two calls of a
  // tool the second is given the first one's job at its admission.
  if (key === undefined || key.derivedOf !== undefined || slots.list(request).length === 0) return undefined;
  const now = deps.clock.now();
  const claim = randomUUID();
  const until = new Date(now.getTime() + PREPARATION_LEASE_MS);
  killPoint(deps.log, 'job.claim.before-commit');
  if (await orPrecheckFailed(() => whileBusy(() => claimKey(deps.db, key, claim, now, until)))) {
    killPoint(deps.log, 'job.claim.after-commit');
    return claim;
  }
  // It was taken between the look and the claim. Where it is free again already, the next try finds it so.
  const known = await replayOf(deps, key);
  if (known === undefined) throw new ApiError('admission_in_progress');
  return known;
}

function uploadsOf(request: MediaRequest<MediaSource>): string[] {
  return slots.list(request).flatMap(({ media }) => (media.from === 'upload' ? [media.key] : []));
}

/**
 * For checks that look at the fields: until they are read, pictures are what every model takes. Their addresses are known
 * already, and some vendors take nothing else.
 */
function unread(request: MediaRequest<MediaSource>): MediaRequest<Media> {
  return slots.map(request, (source) =>
    inMemoryMedia(Buffer.alloc(0), 'image/png', source.from === 'url' ? source.url : undefined),
  );
}

import { lengthExcess, lengthOrder } from '../billing/index.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { BodyTooLarge } from '../fetch/index.ts';
import { killPoint } from '../kill-point.ts';
import { COLLECT_RETRY_MS, OUTPUT_BYTES_MAX, STORAGE_RETRY_MS, UNUSABLE_TRIES_MAX } from '../limits.ts';
import { Unreadable } from '../media/index.ts';
import { storeMedia } from '../objects/index.ts';
import { candidateOf, noteOverclaim, redact, upstreamOf } from '../routing/index.ts';
import { ObjectTooLarge, StorageUnavailable } from '../storage/index.ts';
import type { Output, TaskUsage } from '../vendors/index.ts';
import type { JobDeps } from './deps.ts';
import type { EngineDeps } from './engine-deps.ts';
import { type Attempt, type Collected, failure, type LeasedJob, type OutputPlace } from './job.ts';
import { outputKey } from './output-keys.ts';
import { taskWorkOf } from './task-work.ts';

/** What an upstream made cannot be delivered as it came. */
class Undeliverable extends Error {}

/**
 * For results that came with an answer. Those that are elsewhere are only noted, so that a worker that dies while it
 * fetches them loses nothing; those that are here are stored at once. `ready` without outputs: they could not be, just now.
 */
export async function collectNow(
  engine: EngineDeps,
  leased: LeasedJob,
  attempt: Attempt,
  made: readonly Output[],
  signal: AbortSignal,
): Promise<Attempt> {
  const outputs = wantedOutputs(made, attempt);
  const places = outputs.flatMap(placeOf);
  if (places.length === 0 || places.length < outputs.length) {
    return collectAll(engine, leased, attempt, outputs, signal);
  }
  return { ...attempt, state: 'ready', outputs: places, tries: 0, updatedAt: engine.deps.clock.now() };
}

/** Of a result that is elsewhere. */
function placeOf(output: Output): OutputPlace[] {
  if ('data' in output) return [];
  const isThumbnail = output.isThumbnail === true;
  return ['url' in output ? { url: output.url, isThumbnail } : { path: output.path, isThumbnail }];
}

/** What an upstream made beyond what it was asked for is left with it: it is not in the quote. */
function wantedOutputs(outputs: readonly Output[], { count }: Attempt): Output[] {
  const isThumbnail = (output: Output) => output.isThumbnail === true;
  return [
    ...outputs.filter((output) => !isThumbnail(output)).slice(0, count),
    ...outputs.filter(isThumbnail).slice(0, count),
  ];
}

/** Still `ready`: not now, perhaps later. What can be delivered is, even if the rest never can. */
export async function collectAll(
  { deps }: EngineDeps,
  { job }: LeasedJob,
  attempt: Attempt,
  outputs: readonly Output[],
  signal: AbortSignal,
): Promise<Attempt> {
  const settled = await Promise.allSettled(
    outputs.map((output, index) =>
      store(deps, { job, attempt, output, signal }, outputKey(job.id, attempt.number, index)),
    ),
  );
  const updatedAt = deps.clock.now();
  const stored = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const own = errors.find((error) => !(error instanceof Undeliverable) && !isPassing(error));
  if (own !== undefined) throw own;
  const details = errors.map((error) => (error instanceof Error ? error.message : 'unknown'));
  const redacted = redact(deps.catalogue.snapshot, details.join('; '));
  const detail = errors.length === 0 ? null : redacted.slice(0, 500);
  if (detail !== null) {
    deps.log.warn({ job_id: job.id, upstream: attempt.upstreamId, detail }, 'a result was not collected');
  }
  const waiting = readyStill(attempt, outputs, errors, updatedAt);
  if (waiting !== undefined) return waiting;
  if (stored.some(({ kind }) => kind !== 'thumbnail')) {
    noteLongResult(deps, job, attempt, stored);
    return { ...attempt, state: 'collected', collected: stored, outputs: null, detail, updatedAt };
  }
  const code = errors.some(isOfStorage) ? 'internal_error' : 'undeliverable_output';
  return { ...attempt, ...failure(code, detail ?? 'there are no results'), outputs: null, updatedAt };
}

/**
 * The attempt as it waits for the next try; undefined when there is none. A store that is away is waited for as long as
 * links usually live, an address that gives nothing for minutes, and what is given and cannot be used is fetched a few times.
 */
function readyStill(attempt: Attempt, outputs: readonly Output[], errors: unknown[], now: Date): Attempt | undefined {
  if (errors.length === 0) return undefined;
  const readyAt = attempt.state === 'ready' ? attempt.updatedAt : now;
  const waitedMs = now.getTime() - readyAt.getTime();
  const places = outputs.flatMap(placeOf);
  const areElsewhere = places.length === outputs.length;
  const tries = errors.some(isPassing) ? 0 : attempt.tries + 1;
  const isAgain = errors.some(isPassing)
    ? waitedMs <= (errors.some(isOfStorage) ? STORAGE_RETRY_MS : COLLECT_RETRY_MS)
    : areElsewhere && tries < UNUSABLE_TRIES_MAX;
  if (!isAgain) return undefined;
  return { ...attempt, state: 'ready', outputs: areElsewhere ? places : null, tries, updatedAt: readyAt };
}

/** What is longer than ordered is delivered as it is and charged as ordered. */
function noteLongResult(deps: JobDeps, job: LeasedJob['job'], attempt: Attempt, stored: readonly Collected[]): void {
  const order = lengthOrder(job.estimate, job.wanted);
  const excesses = stored
    .filter(({ kind }) => kind === 'video' || kind === 'audio')
    .flatMap(({ seconds = 0 }) => lengthExcess(seconds * 1000, order) ?? []);
  if (excesses[0] !== undefined) noteOverclaim(deps, attempt, job.requestId, excesses[0]);
}

function isJudgement(error: unknown): error is Error {
  return error instanceof Unreadable || error instanceof ObjectTooLarge || error instanceof Undeliverable;
}

/** A fault of our own, which is no reason to think ill of an upstream. */
function isOfStorage(error: unknown): boolean {
  return error instanceof StorageUnavailable;
}

function isPassing(error: unknown): boolean {
  const isUnreachable = error instanceof ApiError && error.code === 'invalid_input_url';
  return isOfStorage(error) || isUnreachable || error instanceof UpstreamError;
}

interface Result {
  readonly job: LeasedJob['job'];
  readonly attempt: Attempt;
  readonly output: Output;
  readonly signal: AbortSignal;
}

async function store(deps: JobDeps, result: Result, key: string): Promise<Collected> {
  const { job, output, signal } = result;
  const kind = output.isThumbnail === true ? 'thumbnail' : job.kind;
  try {
    const body = await openOutput(deps, result);
    const wanted = kind === 'thumbnail' ? 'image' : kind;
    killPoint(deps.log, 'job.collect.before-store', key);
    const piece = await storeMedia(deps, key, body, {
      bytesMax: OUTPUT_BYTES_MAX,
      signal,
      kinds: [wanted],
      refusal: (_reason, found) => new Undeliverable(`${found?.mimeType ?? 'something'} is no ${wanted}`),
    });
    killPoint(deps.log, 'job.collect.after-store', key);
    return { kind, ...piece };
  } catch (error) {
    if (isJudgement(error)) {
      // It may have been stored before it was found out.
      await deps.objects.remove(key);
      throw new Undeliverable(error.message);
    }
    if (error instanceof ApiError && error.cause instanceof BodyTooLarge) throw new Undeliverable(error.cause.message);
    // An address that is not allowed will not be allowed later either.
    if (error instanceof ApiError && error.code !== 'invalid_input_url') throw new Undeliverable(error.message);
    throw error;
  }
}

/** The bytes of a result: at hand, from the upstream under its credential, or through the guarded fetch. */
async function openOutput(
  deps: JobDeps,
  { job, attempt, output, signal }: Result,
): Promise<Buffer | AsyncIterable<Buffer>> {
  if ('data' in output) return output.data;
  if ('url' in output) {
    return (await deps.collectingFetch.open(output.url, { bytesMax: OUTPUT_BYTES_MAX, signal })).body;
  }
  const candidate = candidateOf(deps, attempt.upstreamId, attempt.upstreamModel);
  const work = candidate && taskWorkOf(candidate.vendor, job.kind);
  // An upstream that was taken out of the configuration may come back.
  if (candidate === undefined || work?.open === undefined)
    throw new UpstreamError('config', 'there is no such upstream');
  return work.open(output.path, upstreamOf(candidate, deps.pools, signal));
}

/** For the operator, who pays the upstream by it; the caller pays what was quoted. */
export function noteUsage({ deps }: EngineDeps, job: LeasedJob['job'], attempt: Attempt, usage?: TaskUsage): void {
  if (usage === undefined || Object.values(usage).every((count) => count === undefined)) return;
  deps.log.info({ job_id: job.id, upstream: attempt.upstreamId, usage }, 'usage of a job');
}

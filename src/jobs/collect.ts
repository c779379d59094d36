import { isImpossibleLength, lengthExcess, lengthOrder } from '../billing/index.ts';
import { ApiError } from '../errors.ts';
import { storeMedia } from '../intake/index.ts';
import { COLLECT_RETRY_MS, OUTPUT_BYTES_MAX } from '../limits.ts';
import { Unreadable } from '../media/index.ts';
import { noteOverclaim } from '../routing/index.ts';
import { ObjectTooLarge, StorageUnavailable } from '../storage/index.ts';
import type { Output } from '../vendors/index.ts';
import type { EngineParts } from './engine-parts.ts';
import { type Attempt, type Collected, failure, type HeldJob, type JobKind } from './job.ts';
import { outputKey } from './output-keys.ts';
import type { JobParts } from './parts.ts';
import { together } from './together.ts';

const COLLECT_AGAIN_MS = 3_000;

/** What an upstream made cannot be delivered, however often it is tried. */
class Undeliverable extends Error {}

/** Brings home what is ready. What cannot be fetched just now is tried again for a while; undefined: it waits. */
export async function collect(engine: EngineParts, held: HeldJob, signal: AbortSignal): Promise<HeldJob | undefined> {
  const ready = held.attempts.filter(({ state }) => state === 'ready');
  const done = await together(
    ready.map(async (attempt) => {
      const outputs = (attempt.outputs ?? []).map(({ url, isThumbnail }) => ({ url, isThumbnail }));
      return (await collected(engine, held, attempt, outputs, signal)) ?? attempt;
    }),
  );
  const current = await engine.queue.save(held, { attempts: done.filter(({ state }) => state !== 'ready') });
  if (done.every(({ state }) => state !== 'ready')) return current;
  await engine.queue.save(current, { dueAt: new Date(engine.parts.clock.nowMs() + COLLECT_AGAIN_MS) });
  return undefined;
}

/**
 * For results that came with an answer. Those that are elsewhere are only noted, so that a worker that dies while it
 * fetches them loses nothing; those that are here are stored at once. Undefined: they could not be, just now.
 */
export async function collectNow(
  engine: EngineParts,
  held: HeldJob,
  attempt: Attempt,
  made: readonly Output[],
  signal: AbortSignal,
): Promise<Attempt | undefined> {
  const outputs = asked(made, attempt);
  if (outputs.length === 0 || !outputs.every((output) => 'url' in output)) {
    return collected(engine, held, attempt, outputs, signal);
  }
  const places = outputs.map(({ url, isThumbnail = false }) => ({ url, isThumbnail }));
  return { ...attempt, state: 'ready', outputs: places, updatedAt: engine.parts.clock.now() };
}

/** What an upstream made beyond what it was asked for is left with it: nobody has agreed to pay for it. */
function asked(outputs: readonly Output[], { count }: Attempt): Output[] {
  const isThumbnail = (output: Output) => output.isThumbnail === true;
  return [
    ...outputs.filter((output) => !isThumbnail(output)).slice(0, count),
    ...outputs.filter(isThumbnail).slice(0, count),
  ];
}

/** Undefined: not now, perhaps later. What can be delivered is, even if the rest never can. */
async function collected(
  { parts }: EngineParts,
  { job }: HeldJob,
  attempt: Attempt,
  outputs: readonly Output[],
  signal: AbortSignal,
): Promise<Attempt | undefined> {
  const settled = await Promise.allSettled(
    outputs.map((output, index) => store(parts, job.kind, outputKey(job.id, attempt.number, index), output, signal)),
  );
  const updatedAt = parts.clock.now();
  const stored = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const errors = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const own = errors.find((error) => !(error instanceof Undeliverable) && !isPassing(error));
  if (own !== undefined) throw own;
  const details = errors.map((error) => (error instanceof Error ? error.message : 'unknown'));
  const detail = errors.length === 0 ? null : details.join('; ').slice(0, 500);
  if (detail !== null) {
    parts.log.warn({ job_id: job.id, upstream: attempt.upstreamId, detail }, 'a result was not collected');
  }
  const isLate = updatedAt.getTime() - attempt.updatedAt.getTime() > COLLECT_RETRY_MS;
  if (errors.some(isPassing) && !isLate) return undefined;
  if (stored.some(({ kind }) => kind !== 'thumbnail')) {
    noteLongResult(parts, job, attempt, stored);
    return { ...attempt, state: 'collected', collected: stored, outputs: null, detail, updatedAt };
  }
  return { ...attempt, ...failure('undeliverable_output', detail ?? 'there are no results'), outputs: null, updatedAt };
}

/** What is longer than ordered is delivered as it is and charged as ordered. */
function noteLongResult(parts: JobParts, job: HeldJob['job'], attempt: Attempt, stored: readonly Collected[]): void {
  const order = lengthOrder(job.estimate, job.wanted);
  const excesses = stored
    .filter(({ kind }) => kind === 'video' || kind === 'audio')
    .flatMap(({ seconds = 0 }) => lengthExcess(seconds * 1000, order) ?? []);
  if (excesses[0] !== undefined) noteOverclaim(parts, attempt, job.requestId, excesses[0]);
}

function isJudgement(error: unknown): error is Error {
  return error instanceof Unreadable || error instanceof ObjectTooLarge || error instanceof Undeliverable;
}

function isPassing(error: unknown): boolean {
  return error instanceof StorageUnavailable || (error instanceof ApiError && error.code === 'invalid_input_url');
}

async function store(
  parts: JobParts,
  jobKind: JobKind,
  key: string,
  output: Output,
  signal: AbortSignal,
): Promise<Collected> {
  const kind = output.isThumbnail === true ? 'thumbnail' : jobKind;
  try {
    const body =
      'data' in output
        ? output.data
        : (await parts.collectingFetch.open(output.url, { bytesMax: OUTPUT_BYTES_MAX, signal })).body;
    const wanted = kind === 'thumbnail' ? 'image' : kind;
    parts.log.trace({ key }, 'result to be stored');
    const piece = await storeMedia(parts, key, body, {
      bytesMax: OUTPUT_BYTES_MAX,
      signal,
      kinds: [wanted],
      refusal: (_reason, found) => new Undeliverable(`${found?.mimeType ?? 'something'} is no ${wanted}`),
    });
    parts.log.trace({ key }, 'result stored');
    if (isImpossibleLength(piece.seconds ?? 0, piece.bytes)) {
      throw new Undeliverable(`${piece.bytes} bytes cannot play for ${piece.seconds} seconds`);
    }
    return { kind, ...piece };
  } catch (error) {
    if (isJudgement(error)) {
      // It may have been stored before it was found out.
      await parts.objects.remove(key);
      throw new Undeliverable(error.message);
    }
    // An address that is not allowed will not be allowed later either.
    if (error instanceof ApiError && error.code !== 'invalid_input_url') throw new Undeliverable(error.message);
    throw error;
  }
}

import { boundLength, lengthOrder, routeCost } from '../billing/index.ts';
import type { MicroCredits } from '../credits.ts';
import { retryWhileUnavailable } from '../db/index.ts';
import { newId } from '../ids.ts';
import { killPoint } from '../kill-point.ts';
import { requireLeased } from '../leased/index.ts';
import { endAll } from '../ledger/index.ts';
import { OUTPUT_KEPT_MS, UNOWNED_KEPT_MS } from '../limits.ts';
import { deleteObjectsAt, recordObjects } from '../objects/index.ts';
import { charge, costOf, type FrozenPrice, type Units } from '../pricing/index.ts';
import { slots } from '../schemas/index.ts';
import type { JobDeps } from './deps.ts';
import type { EngineDeps } from './engine-deps.ts';
import type { JobFault } from './faults.ts';
import type { Collected, EndedJob, LeasedJob } from './job.ts';
import { outputKeys } from './output-keys.ts';
import { endJobs, type JobEnd } from './queue-store.ts';
import { type Asset, insertAssets, selectPrices } from './store.ts';

/** The only way into a terminal state. With at least one result a job has succeeded. Throws LostLease. */
export async function endJob(engine: EngineDeps, leased: LeasedJob, expired?: 'queue_expired'): Promise<void> {
  const delivered = expired === undefined ? leased.attempts.flatMap(({ collected }) => collected ?? []) : [];
  const isSuccess = delivered.some(({ kind }) => kind !== 'thumbnail');
  const status = expired ?? (isSuccess ? 'succeeded' : 'failed');
  const errorCode = isSuccess ? null : (expired ?? faultOf(leased));
  await retryWhileUnavailable(() =>
    engine.ends.add({ leased, status, errorCode, delivered: isSuccess ? delivered : [] }),
  );
}

/** Of several calls that failed, the first tells why. */
function faultOf({ attempts }: LeasedJob): JobFault {
  return attempts.find(({ errorCode }) => errorCode !== null)?.errorCode ?? 'upstream_failed';
}

/** State, money, assets and what is to be deleted change in one transaction. */
export async function endAllJobs(deps: JobDeps, ends: readonly EndedJob[]): Promise<readonly undefined[]> {
  await deps.db.transaction(async (tx) => {
    const now = deps.clock.now();
    const prices = await selectPrices(
      tx,
      ends.map(({ leased }) => leased.job.reservationId),
    );
    const charges = ends.map((end) => chargeOf(end, prices.get(end.leased.job.reservationId) as FrozenPrice));
    const ended = await endJobs(
      tx,
      ends.map((end, place) => {
        const { charged = 0n } = charges[place] ?? {};
        const cost = operatorCost(deps, end, prices.get(end.leased.job.reservationId) as FrozenPrice);
        return toJobEnd(end, charged, cost);
      }),
      now,
    );
    requireLeased(ends, ended);
    await endAll(
      tx,
      ends.map(({ leased, status }, place) => ({
        id: leased.job.reservationId,
        actual: status === 'succeeded' ? charges[place]?.charged : undefined,
        units: status === 'succeeded' ? JSON.stringify(charges[place]?.units) : undefined,
      })),
      now,
    );
    const assets = ends.flatMap((end) => assetsOf(end, now));
    if (assets.length > 0) await insertAssets(tx, assets);
    await keepAndDrop(tx, ends, now);
    await deps.bus.announce(tx, 'job_end', ends.map(({ leased }) => leased.job.id).join(' '));
    for (const { leased, status } of ends) killPoint(deps.log, `job.end.${status}.before-commit`, leased.job.id);
  });
  for (const { leased, status } of ends) {
    killPoint(deps.log, `job.end.${status}.after-commit`, leased.job.id);
    deps.signals?.jobEnded(leased.job.kind, status);
  }
  return ends.map(() => undefined);
}

type Tx = Parameters<typeof endJobs>[0];

function toJobEnd(
  { leased, status, errorCode }: EndedJob,
  charged: MicroCredits,
  cost: MicroCredits | undefined,
): JobEnd {
  return { jobId: leased.job.id, fence: leased.fence, status, errorCode, charged, cost, attempts: leased.attempts };
}

/** At the price of then, for what was really delivered, as far as it was ordered. */
function chargeOf(
  { leased, status, delivered }: EndedJob,
  price: FrozenPrice,
): { charged: MicroCredits; units: Units } {
  if (status !== 'succeeded') return { charged: 0n, units: {} };
  const units = deliveredUnits(leased, delivered);
  return { charged: charge(price, units), units };
}

/** Each upstream is paid for what it delivered; unknown where one of them states no cost, or its route is gone. */
function operatorCost(deps: JobDeps, { leased, status }: EndedJob, price: FrozenPrice): MicroCredits | undefined {
  if (status !== 'succeeded') return undefined;
  let sum = 0n;
  for (const { upstreamId, upstreamModel, collected } of leased.attempts) {
    if (collected === null) continue;
    const pricing = routeCost(deps, leased.job.model, upstreamId, upstreamModel);
    if (pricing === undefined) return undefined;
    sum += costOf(pricing, price, deliveredUnits(leased, collected));
  }
  return sum;
}

function deliveredUnits({ job }: LeasedJob, delivered: readonly Collected[]): Units {
  const results = delivered.filter(({ kind }) => kind !== 'thumbnail');
  const order = lengthOrder(job.estimate, job.wanted);
  const lengths = results.map(({ seconds = 0 }) => boundLength(Math.round(seconds * 1000), order));
  const milliseconds = lengths.reduce((sum, length) => sum + length, 0);
  switch (job.kind) {
    case 'image':
      return { images: results.length, requests: 1 };
    case 'video':
      return { milliseconds, requests: 1 };
    case 'audio': {
      const characters = Math.round(((job.estimate.characters ?? 0) / job.wanted) * results.length);
      return { milliseconds, characters, requests: results.length };
    }
  }
}

/** Results first, in the order in which they were asked for; thumbnails are counted on from them. */
function assetsOf({ leased, delivered }: EndedJob, createdAt: Date): Asset[] {
  const results = delivered.filter(({ kind }) => kind !== 'thumbnail');
  const thumbnails = delivered.filter(({ kind }) => kind === 'thumbnail');
  return [...results, ...thumbnails].map(({ key, ...rest }, ordinal) => ({
    id: newId('ast'),
    jobId: leased.job.id,
    ordinal,
    objectKey: key,
    createdAt,
    ...rest,
  }));
}

async function keepAndDrop(tx: Tx, ends: readonly EndedJob[], now: Date): Promise<void> {
  const keptUntil = new Date(now.getTime() + OUTPUT_KEPT_MS);
  // A process that lost its lease in the middle of a put may end the put after this commit: the row must outlive it.
  const leftoversKeptUntil = new Date(now.getTime() + UNOWNED_KEPT_MS);
  const outputs = ends.flatMap(({ leased, delivered }) => {
    const deliveredKeys = new Set(delivered.map(({ key }) => key));
    const { accountId } = leased.job;
    return [
      ...delivered.map(({ key, mimeType, bytes }) => ({ key, accountId, mimeType, bytes, deleteAt: keptUntil })),
      ...leftovers(leased)
        .filter((key) => !deliveredKeys.has(key))
        .map((key) => ({ key, accountId, mimeType: '', bytes: 0, deleteAt: leftoversKeptUntil })),
    ];
  });
  if (outputs.length > 0) await recordObjects(tx, outputs);
  await deleteObjectsAt(tx, ends.flatMap(inputsOf), now);
}

/** Where a worker that died, or a call that failed in the end, may have put something. */
function leftovers({ job, attempts }: LeasedJob): string[] {
  return (
    attempts
      // One that was collected and has something to tell was not collected whole.
      .filter(({ state, detail }) => state === 'failed' || (state === 'collected' && detail !== null))
      .flatMap((attempt) => outputKeys(job.id, attempt))
  );
}

/** What was stored for this job alone. A file of the caller's own stays until its own time. */
function inputsOf({ leased }: EndedJob): string[] {
  const keys = slots.list(leased.job.request).map(({ media }) => media.key);
  return keys.filter((key) => key.startsWith('inputs/'));
}

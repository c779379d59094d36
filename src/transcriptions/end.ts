import { measureTranscription, routeCost } from '../billing/index.ts';
import type { MicroCredits } from '../credits.ts';
import { retryWhileUnavailable, type Tx } from '../db/index.ts';
import { killPoint } from '../kill-point.ts';
import { LostLease } from '../leased/index.ts';
import { refund, settle } from '../ledger/index.ts';
import { deleteObjectsAt } from '../objects/index.ts';
import { charge, costOf, type Units } from '../pricing/index.ts';
import type { TranscriptionDeps } from './deps.ts';
import type { LeasedRecord, Outcome } from './record.ts';
import { saveEnd, selectRoute } from './store.ts';

/**
 * The only way to an end: state, result, money and what is to be deleted change in one transaction. Returns what was
 * charged. Throws LostLease; and DatabaseUnavailable, and then it may or may not have been written.
 */
export async function endRecord(
  deps: TranscriptionDeps,
  record: LeasedRecord,
  outcome: Outcome,
): Promise<MicroCredits> {
  const charged = await retryWhileUnavailable(() => deps.db.transaction((tx) => endIn(tx, deps, record, outcome)));
  killPoint(deps.log, `transcription.end.${outcome.status}.after-commit`, record.id);
  return charged;
}

async function endIn(tx: Tx, deps: TranscriptionDeps, record: LeasedRecord, outcome: Outcome): Promise<MicroCredits> {
  const { clock, log } = deps;
  const now = clock.now();
  const { id, fence, reservationId } = record;
  // By its own length, at the price of then.
  const { units } = measureTranscription(record.seconds);
  const isCompleted = outcome.status === 'completed';
  const charged = isCompleted ? charge(record.price, units) : 0n;
  const cost = isCompleted ? await operatorCost(tx, deps, record, units) : null;
  const end = isCompleted
    ? { status: outcome.status, result: outcome.json, errorCode: null }
    : { status: outcome.status, result: null, errorCode: outcome.code };
  if (!(await saveEnd(tx, { id, fence, charged, cost, ...end }, now))) throw new LostLease();
  if (isCompleted) await settle(tx, reservationId, charged, now, JSON.stringify(units));
  else await refund(tx, reservationId, now);
  if (record.objectKey !== null) await deleteObjectsAt(tx, [record.objectKey], now);
  killPoint(log, `transcription.end.${outcome.status}.before-commit`, id);
  return charged;
}

/** Null where no route states its cost, which needs no look, or this one does not. */
async function operatorCost(
  tx: Tx,
  deps: TranscriptionDeps,
  record: LeasedRecord,
  units: Units,
): Promise<MicroCredits | null> {
  const { models } = deps.catalogue.snapshot.document;
  if (!models.some(({ routes }) => routes.some(({ cost }) => cost !== undefined))) return null;
  const taken = await selectRoute(tx, record);
  const pricing = taken && routeCost(deps, taken.model, taken.upstreamId ?? '', taken.upstreamModel ?? '');
  return pricing === undefined ? null : costOf(pricing, record.price, units);
}

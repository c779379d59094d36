import { insufficientCredits } from '../billing/index.ts';
import type { Tx } from '../db/index.ts';
import type { ApiError } from '../errors.ts';
import { type Admit, type Applicant, groupAdmission, keepInputs } from '../leased/index.ts';
import { reserveAll } from '../ledger/index.ts';
import { RESERVATION_LEASE_MS } from '../limits.ts';
import type { FrozenPrice } from '../pricing/index.ts';
import type { TranscriptionDeps } from './deps.ts';
import { insertRecords, type NewRecord } from './store.ts';

/** A request that is ready to become a record. */
export interface TranscriptionApplicant extends Applicant {
  readonly record: NewRecord;
  /** The reservation's price. */
  readonly price: FrozenPrice;
}

export type AdmitTranscription = Admit<TranscriptionApplicant, undefined>;

/** Reservation and record in one transaction. */
export function transcriptionAdmission({ processId, ...deps }: TranscriptionDeps): AdmitTranscription {
  return groupAdmission(deps, 'transcription', (tx, applicants, now) => admitBatch(tx, applicants, now, processId));
}

async function admitBatch(
  tx: Tx,
  applicants: readonly TranscriptionApplicant[],
  now: Date,
  owner: string,
): Promise<readonly (ApiError | undefined)[]> {
  const reservations = applicants.map(({ reservation }) => reservation);
  const refusals = await reserveAll(tx, reservations, now);
  const admitted = applicants.filter(({ reservation }) => !refusals.has(reservation.id));
  if (admitted.length > 0) {
    const records = admitted.map(({ record }) => record);
    await insertRecords(tx, records, { owner, until: new Date(now.getTime() + RESERVATION_LEASE_MS) });
    await keepInputs(tx, admitted, now);
  }
  return reservations.map((reservation) => {
    const refusal = refusals.get(reservation.id);
    return refusal && insufficientCredits(reservation, refusal);
  });
}

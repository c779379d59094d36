import { insufficientCredits } from '../billing/index.ts';
import { GroupCommit, type Tx } from '../db/index.ts';
import { killPoint } from '../kill-point.ts';
import { type CreditRefusal, type NewReservation, reserveAll } from '../ledger/index.ts';
import { INPUT_KEPT_MS, RESERVATION_LEASE_MS } from '../limits.ts';
import { keepObjectsUntil } from '../objects/index.ts';
import type { FrozenPrice } from '../pricing/index.ts';
import type { TranscriptionDeps } from './deps.ts';
import { insertRecords, type NewRecord } from './store.ts';

/** A request that is ready to become a record. */
export interface Applicant {
  readonly record: NewRecord;
  readonly reservation: NewReservation;
  /** The reservation's price. */
  readonly price: FrozenPrice;
}

const APPLICANTS_PER_ROUND_MAX = 64;

/** Reservation and record in one transaction, which applicants that come together share. */
export class Admissions {
  readonly #deps: TranscriptionDeps;
  readonly #commits = new GroupCommit(
    (applicants: readonly Applicant[]) => this.#run(applicants),
    APPLICANTS_PER_ROUND_MAX,
  );

  constructor(deps: TranscriptionDeps) {
    this.#deps = deps;
  }

  /** Throws `insufficient_credits`, and then there is neither. */
  async admit(applicant: Applicant): Promise<void> {
    const refusal = await this.#commits.add(applicant);
    if (refusal !== undefined) throw insufficientCredits(applicant.reservation, refusal);
  }

  async #run(applicants: readonly Applicant[]): Promise<readonly (CreditRefusal | undefined)[]> {
    const refusals = await this.#deps.db.transaction((tx) => this.#admitAll(tx, applicants));
    killPoint(this.#deps.log, 'transcription.admission.after-commit');
    return applicants.map(({ reservation }) => refusals.get(reservation.id));
  }

  async #admitAll(tx: Tx, applicants: readonly Applicant[]) {
    const { clock, processId, log } = this.#deps;
    const now = clock.now();
    const refusals = await reserveAll(
      tx,
      applicants.map(({ reservation }) => reservation),
      now,
    );
    const records = applicants.filter(({ reservation }) => !refusals.has(reservation.id)).map(({ record }) => record);
    if (records.length > 0) {
      const lease = { owner: processId, until: new Date(now.getTime() + RESERVATION_LEASE_MS) };
      await insertRecords(tx, records, lease);
      const inputs = records.flatMap(({ objectKey }) => objectKey ?? []);
      if (inputs.length > 0) await keepObjectsUntil(tx, inputs, new Date(now.getTime() + INPUT_KEPT_MS));
    }
    killPoint(log, 'transcription.admission.before-commit');
    return refusals;
  }
}

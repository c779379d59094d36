import { orPrecheckFailed } from '../billing/index.ts';
import type { Clock } from '../clock.ts';
import { type Db, GroupCommit, type Tx, whileBusy } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import type { NewReservation } from '../ledger/index.ts';
import { INPUT_KEPT_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { keepObjectsUntil } from '../objects/index.ts';

/** A request that is ready to become a record. */
export interface Applicant {
  readonly reservation: NewReservation;
  /** Keys of what lies in the object store for it. */
  readonly inputs: readonly string[];
}

/** Throws ApiError, and then there is no record and no reservation; `precheck_failed` alone leaves that open. */
export type Admit<Member extends Applicant, Admitted> = (applicant: Member) => Promise<Admitted>;

const APPLICANTS_PER_BATCH_MAX = 128;

/**
 * Admission by group commit: applicants that come together share a transaction. `admitBatch` reserves credits, writes the
 * records of those that it admits, and answers each at its index as if it had come alone in the order of their coming.
 */
export function groupAdmission<Member extends Applicant, Admitted>(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  subject: 'job' | 'transcription',
  admitBatch: (tx: Tx, applicants: readonly Member[], now: Date) => Promise<readonly (Admitted | ApiError)[]>,
): Admit<Member, Admitted> {
  const commits = new GroupCommit(async (applicants: readonly Member[]) => {
    const verdicts = await whileBusy(() =>
      db.transaction(async (tx) => {
        const answers = await admitBatch(tx, applicants, clock.now());
        killPoint(log, `${subject}.admission.before-commit`);
        return answers;
      }),
    );
    killPoint(log, `${subject}.admission.after-commit`);
    return verdicts;
  }, APPLICANTS_PER_BATCH_MAX);
  return async (applicant) => {
    const verdict = await orPrecheckFailed(() => commits.add(applicant));
    if (verdict instanceof ApiError) throw verdict;
    return verdict;
  };
}

/** What was stored for the admitted stays for as long as any upstream may still read it. */
export async function keepInputs(tx: Tx, admitted: readonly Applicant[], now: Date): Promise<void> {
  const inputs = admitted.flatMap((applicant) => applicant.inputs);
  if (inputs.length > 0) await keepObjectsUntil(tx, inputs, new Date(now.getTime() + INPUT_KEPT_MS));
}

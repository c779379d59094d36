import { orPrecheckFailed } from '../billing/index.ts';
import type { Clock } from '../clock.ts';
import { type Db, GroupCommit, type Tx, whileBusy } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import type { NewReservation } from '../ledger/index.ts';
import { INPUT_KEPT_MS } from '../limits.ts';
import type { Logger } from '../log.ts';
import { keepObjectsUntil, recordObjects, type StoredObject } from '../objects/index.ts';

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
  const commit = (applicants: readonly Member[]) =>
    whileBusy(() =>
      db.transaction(async (tx) => {
        const answers = await admitBatch(tx, applicants, clock.now());
        killPoint(log, `${subject}.admission.before-commit`);
        return answers;
      }),
    );
  const commits = new GroupCommit(async (applicants: readonly Member[]) => {
    const verdicts = await commit(applicants).catch(async (error: unknown) => {
      if (!(error instanceof InputsGone)) throw error;
      const { incomplete, gone } = error;
      await deleteAgain(db, incomplete, gone, clock.now());
      const rest = applicants.filter((applicant) => !incomplete.has(applicant));
      const answers = (await commit(rest)).values();
      return applicants.map((applicant) =>
        incomplete.has(applicant)
          ? new ApiError('job_service_unavailable')
          : (answers.next().value as Admitted | ApiError),
      );
    });
    killPoint(log, `${subject}.admission.after-commit`);
    return verdicts;
  }, APPLICANTS_PER_BATCH_MAX);
  return async (applicant) => {
    const verdict = await orPrecheckFailed(() => commits.add(applicant));
    if (verdict instanceof ApiError) throw verdict;
    return verdict;
  };
}

/** Inputs were deleted before the admission: it took longer than what has no owner is kept, or the clock has jumped. */
class InputsGone extends Error {
  readonly incomplete: ReadonlySet<Applicant>;
  readonly gone: ReadonlySet<string>;

  constructor(incomplete: ReadonlySet<Applicant>, gone: ReadonlySet<string>) {
    super('inputs of an applicant are gone');
    this.incomplete = incomplete;
    this.gone = gone;
  }
}

/** What was stored for the admitted stays for as long as any upstream may still read it. */
export async function keepInputs(tx: Tx, admitted: readonly Applicant[], now: Date): Promise<void> {
  const inputs = admitted.flatMap((applicant) => applicant.inputs);
  if (inputs.length === 0) return;
  const present = await keepObjectsUntil(tx, inputs, new Date(now.getTime() + INPUT_KEPT_MS));
  const gone = new Set(inputs.filter((key) => !present.has(key)));
  if (gone.size === 0) return;
  const incomplete = admitted.filter((applicant) => applicant.inputs.some((key) => gone.has(key)));
  throw new InputsGone(new Set(incomplete), gone);
}

/** The clean-up has forgotten objects whose files were perhaps still being written: it deletes them once more. */
async function deleteAgain(
  db: Db,
  applicants: ReadonlySet<Applicant>,
  gone: ReadonlySet<string>,
  now: Date,
): Promise<void> {
  const objects = new Map<string, StoredObject>();
  for (const { inputs, reservation } of applicants) {
    const { accountId } = reservation;
    for (const key of inputs)
      if (gone.has(key)) objects.set(key, { key, accountId, mimeType: '', bytes: 0, deleteAt: now });
  }
  await recordObjects(db, [...objects.values()]);
}

import { insufficientCredits } from '../billing/index.ts';
import { GroupCommit, type Tx, whileBusy } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { type CreditRefusal, lockAccounts, type NewReservation } from '../ledger/index.ts';
import { FINGERPRINT_KEPT_MS, INPUT_KEPT_MS } from '../limits.ts';
import { keepObjectsUntil } from '../objects/index.ts';
import type { JobDeps } from './deps.ts';
import { bindKeys, type IdempotencyKey, type KnownKey, selectKeys } from './keys-store.ts';
import { type Placed, placeAll } from './places.ts';
import { countOpen, insertJobs, type NewJob } from './store.ts';

/** A request that is ready to become a job. */
export interface Applicant {
  readonly job: Omit<NewJob, 'behind'>;
  readonly reservation: NewReservation;
  readonly key: IdempotencyKey | undefined;
  /** The applicant's own claim on the key, if it has one. */
  readonly claim: string | undefined;
  /** What lies in the object store for it. */
  readonly inputs: readonly string[];
}

/** The job that stands now for the request: the new one, or the first that was made under the same key. */
export interface Admitted {
  readonly jobId: string;
  readonly isReplay: boolean;
}

const APPLICANTS_PER_ROUND_MAX = 128;

/**
 * Reservation, job and fingerprint in one transaction. Applicants that come together share it; each is judged as if it
 * had come alone, in the order of their coming.
 */
export class Admissions {
  readonly #deps: JobDeps;
  readonly #commits = new GroupCommit(
    (applicants: readonly Applicant[]) => this.#run(applicants),
    APPLICANTS_PER_ROUND_MAX,
  );

  constructor(deps: JobDeps) {
    this.#deps = deps;
  }

  /** Throws ApiError, and then there is no job, no reservation and no fingerprint. */
  async admit(applicant: Applicant): Promise<Admitted> {
    const verdict = await this.#commits.add(applicant);
    if (verdict instanceof ApiError) throw verdict;
    return verdict;
  }

  async #run(applicants: readonly Applicant[]): Promise<readonly Verdict[]> {
    const verdicts = await whileBusy(() => this.#deps.db.transaction((tx) => this.#admitAll(tx, applicants)));
    killPoint(this.#deps.log, 'job.admission.after-commit');
    return verdicts;
  }

  async #admitAll(tx: Tx, applicants: readonly Applicant[]): Promise<readonly Verdict[]> {
    const now = this.#deps.clock.now();
    const accountIds = [...new Set(applicants.map(({ job }) => job.accountId))].sort();
    // Row locks on the accounts, taken by every admission: what is read below stays true until the commit.
    await lockAccounts(tx, accountIds);
    const verdicts = judgeKeys(applicants, await knownKeys(tx, applicants), now);
    const unjudged = applicants.filter((applicant) => !verdicts.has(applicant));
    const { placed, refused } = await placeAll(tx, unjudged, await countOpen(tx, accountIds), now);
    for (const { member } of placed) verdicts.set(member, firstOf(member));
    for (const [applicant, refusal] of refused) verdicts.set(applicant, toRefusal(applicant, refusal));
    if (placed.length > 0) await this.#write(tx, placed, now);
    return applicants.map((applicant) => followed(applicant, verdicts));
  }

  async #write(tx: Tx, admitted: readonly Placed<Applicant>[], now: Date): Promise<void> {
    const jobs = admitted.map(({ member, behind }) => ({ ...member.job, behind }));
    await insertJobs(tx, jobs);
    const bound = admitted.flatMap(({ member: { key, job } }) => (key === undefined ? [] : [{ key, jobId: job.id }]));
    if (bound.length > 0) await bindKeys(tx, bound, new Date(now.getTime() + FINGERPRINT_KEPT_MS));
    const inputs = admitted.flatMap(({ member }) => member.inputs);
    if (inputs.length > 0) await keepObjectsUntil(tx, inputs, new Date(now.getTime() + INPUT_KEPT_MS));
    await this.#deps.bus.announce(tx, 'job', '');
    killPoint(this.#deps.log, 'job.admission.before-commit');
  }
}

type Verdict = Admitted | ApiError;

/** Without an entry, an applicant is still to be judged. One that names another shares its fate. */
type Verdicts = Map<Applicant, Verdict | Applicant>;

async function knownKeys(tx: Tx, applicants: readonly Applicant[]): Promise<Map<string, KnownKey>> {
  const keys = applicants.flatMap(({ key }) => (key === undefined ? [] : [key]));
  if (keys.length === 0) return new Map();
  return new Map((await selectKeys(tx, keys)).map((row) => [scopeOf(row), row]));
}

function scopeOf({ accountId, credential, key }: Pick<IdempotencyKey, 'accountId' | 'credential' | 'key'>): string {
  return JSON.stringify([accountId, credential, key]);
}

function judgeKeys(applicants: readonly Applicant[], known: ReadonlyMap<string, KnownKey>, now: Date): Verdicts {
  const verdicts: Verdicts = new Map();
  const leaders = new Map<string, Applicant>();
  for (const applicant of applicants) {
    if (applicant.key === undefined) continue;
    const scope = scopeOf(applicant.key);
    const leader = leaders.get(scope);
    const verdict = leader ?? judgeKnown(applicant.key, applicant.claim, known.get(scope), now);
    if (verdict !== undefined) verdicts.set(applicant, verdict);
    else leaders.set(scope, applicant);
  }
  return verdicts;
}

/** What is known under a key decides, unless that is nothing, or the asker's own claim, or one that has run out. */
export function judgeKnown(
  { fingerprint }: IdempotencyKey,
  claim: string | undefined,
  known: KnownKey | undefined,
  now: Date,
): Verdict | undefined {
  if (known === undefined) return undefined;
  if (known.jobId === null) {
    return known.claim === claim || known.deleteAt <= now ? undefined : new ApiError('admission_in_progress');
  }
  if (!known.fingerprint.equals(fingerprint)) return new ApiError('idempotency_conflict');
  return { jobId: known.jobId, isReplay: true };
}

function firstOf({ job }: Applicant): Admitted {
  return { jobId: job.id, isReplay: false };
}

function toRefusal({ reservation }: Applicant, refusal: CreditRefusal | 'capacity'): ApiError {
  if (refusal === 'capacity') return new ApiError('media_open_job_capacity');
  return insufficientCredits(reservation, refusal);
}

/** Two that came together under one key: the second finds the first's job, or may try again where there is none. */
function followed(applicant: Applicant, verdicts: Verdicts): Verdict {
  const verdict = verdicts.get(applicant);
  if (verdict === undefined) throw new Error('an applicant was not judged');
  if (!('reservation' in verdict)) return verdict;
  const leading = followed(verdict, verdicts);
  if (leading instanceof ApiError) return new ApiError('admission_in_progress');
  const isSame = verdict.key !== undefined && applicant.key?.fingerprint.equals(verdict.key.fingerprint) === true;
  return isSame ? { jobId: leading.jobId, isReplay: true } : new ApiError('idempotency_conflict');
}

import { insufficientCredits } from '../billing/index.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { type Admit, type Applicant, groupAdmission, keepInputs } from '../leased/index.ts';
import { type CreditRefusal, lockAccounts } from '../ledger/index.ts';
import { FINGERPRINT_KEPT_MS, MCP_JOIN_MS, RETRY_JOINS_MS } from '../limits.ts';
import { type QueuePlace, reserveWithinCapacity } from './capacity.ts';
import type { JobDeps } from './deps.ts';
import { bindKeys, type IdempotencyKey, type KnownKey, selectKeys } from './keys-store.ts';
import { countOpen, insertJobs, type NewJob } from './store.ts';

/** A request that is ready to become a job. */
export interface JobApplicant extends Applicant {
  readonly job: Omit<NewJob, 'behind'>;
  readonly key: IdempotencyKey | undefined;
  /** The applicant's own claim on the key, if it has one. */
  readonly claim: string | undefined;
}

/** The job that stands now for the request: the new one, or the first that was made under the same key. */
export interface Admitted {
  readonly jobId: string;
  readonly isReplay: boolean;
}

export type AdmitJob = Admit<JobApplicant, Admitted>;

/** Reservation, job and fingerprint in one transaction. */
export function jobAdmission(deps: JobDeps): AdmitJob {
  return groupAdmission(deps, 'job', (tx, applicants, now) => admitBatch(deps, tx, applicants, now));
}

async function admitBatch(
  { bus }: JobDeps,
  tx: Tx,
  applicants: readonly JobApplicant[],
  now: Date,
): Promise<readonly Verdict[]> {
  const accountIds = [...new Set(applicants.map(({ job }) => job.accountId))].sort();
  // Row locks on the accounts, taken by every admission: what is read below stays true until the commit.
  await lockAccounts(tx, accountIds);
  const verdicts = judgeKeys(applicants, await knownKeys(tx, applicants), now);
  const unjudged = applicants.filter((applicant) => !verdicts.has(applicant));
  const { admitted, refused } = await reserveWithinCapacity(tx, unjudged, await countOpen(tx, accountIds), now);
  for (const { member } of admitted) verdicts.set(member, firstOf(member));
  for (const [applicant, refusal] of refused) verdicts.set(applicant, toRefusal(applicant, refusal));
  if (admitted.length > 0) {
    await writeJobs(tx, admitted, now);
    await bus.announce(tx, 'job', '');
  }
  return applicants.map((applicant) => verdictOf(applicant, verdicts));
}

async function writeJobs(tx: Tx, admitted: readonly QueuePlace<JobApplicant>[], now: Date): Promise<void> {
  const members = admitted.map(({ member }) => member);
  await insertJobs(
    tx,
    admitted.map(({ member, behind }) => ({ ...member.job, behind })),
  );
  await bindKeys(tx, boundKeys(members, now));
  await keepInputs(tx, members, now);
}

/** Of several first attempts of one request, the last one's job is bound: a row is written once in a statement. */
function boundKeys(members: readonly JobApplicant[], now: Date) {
  const bound = members.flatMap(({ key, job }) => {
    if (key === undefined) return [];
    const keptMs = keptMsOf(key);
    return [[scopeOf(key), { key, jobId: job.id, keptUntil: new Date(now.getTime() + keptMs) }] as const];
  });
  return [...new Map(bound).values()];
}

function keptMsOf({ derivedOf }: IdempotencyKey): number {
  if (derivedOf === undefined) return FINGERPRINT_KEPT_MS;
  return derivedOf === 'tool call' ? MCP_JOIN_MS : RETRY_JOINS_MS;
}

type Verdict = Admitted | ApiError;

/** Without an entry, an applicant is still to be judged. One that names another shares its fate. */
type Verdicts = Map<JobApplicant, Verdict | JobApplicant>;

async function knownKeys(tx: Tx, applicants: readonly JobApplicant[]): Promise<Map<string, KnownKey>> {
  const keys = applicants.flatMap(({ key }) => (key === undefined ? [] : [key]));
  if (keys.length === 0) return new Map();
  return new Map((await selectKeys(tx, keys)).map((row) => [scopeOf(row), row]));
}

function scopeOf({ accountId, credential, key }: Pick<IdempotencyKey, 'accountId' | 'credential' | 'key'>): string {
  return JSON.stringify([accountId, credential, key]);
}

function judgeKeys(applicants: readonly JobApplicant[], known: ReadonlyMap<string, KnownKey>, now: Date): Verdicts {
  const verdicts: Verdicts = new Map();
  const leaders = new Map<string, JobApplicant>();
  for (const applicant of applicants) {
    if (applicant.key === undefined || applicant.key.derivedOf === 'first attempt') continue;
    const scope = scopeOf(applicant.key);
    const leader = leaders.get(scope);
    const verdict = leader ?? judgeKnown(applicant.key, applicant.claim, known.get(scope), now);
    if (verdict !== undefined) verdicts.set(applicant, verdict);
    else leaders.set(scope, applicant);
  }
  return verdicts;
}

/** What is known under a key decides, unless that is nothing, or the applicant's own claim, or one that has run out. */
export function judgeKnown(
  { fingerprint, derivedOf }: IdempotencyKey,
  claim: string | undefined,
  known: KnownKey | undefined,
  now: Date,
): Verdict | undefined {
  if (known === undefined || (derivedOf !== undefined && known.deleteAt <= now)) return undefined;
  if (derivedOf === 'tool call' && !known.isOpen) return undefined;
  if (known.jobId === null) {
    return known.claim === claim || known.deleteAt <= now ? undefined : new ApiError('admission_in_progress');
  }
  if (!known.fingerprint.equals(fingerprint)) return new ApiError('idempotency_conflict');
  return { jobId: known.jobId, isReplay: true };
}

function firstOf({ job }: JobApplicant): Admitted {
  return { jobId: job.id, isReplay: false };
}

function toRefusal({ reservation }: JobApplicant, refusal: CreditRefusal | 'capacity'): ApiError {
  if (refusal === 'capacity') return new ApiError('media_open_job_capacity');
  return insufficientCredits(reservation, refusal);
}

/** Two that came together under one key: the second finds the first's job, or may try again where there is none. */
function verdictOf(applicant: JobApplicant, verdicts: Verdicts): Verdict {
  const verdict = verdicts.get(applicant);
  if (verdict === undefined) throw new Error('an applicant was not judged');
  if (!('reservation' in verdict)) return verdict;
  const leading = verdictOf(verdict, verdicts);
  if (leading instanceof ApiError) return new ApiError('admission_in_progress');
  const isSame = verdict.key !== undefined && applicant.key?.fingerprint.equals(verdict.key.fingerprint) === true;
  return isSame ? { jobId: leading.jobId, isReplay: true } : new ApiError('idempotency_conflict');
}

// What must be true once everything has come to rest, whatever was killed when.
import { type EntryRow, faultsOfBooks, faultsOfPayment } from '../books.ts';
import type { AssetRow, AttemptRow, Evidence, JobRow } from './evidence.ts';
import { CREDITS_PER_PICTURE, CREDITS_PER_SECOND } from './upstreams.ts';

/** Each finding is a sentence; without any, the rule holds. */
type Rule = (evidence: Evidence) => readonly string[];

const MICRO = 1_000_000;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const FAULTS = ['upstream_failed', 'upstream_rejected', 'content_rejected', 'undeliverable_output', 'upstream_timeout'];

const RULES: Readonly<Record<string, Rule>> = {
  'nothing acknowledged is lost': ({ jobs, outcomes }) =>
    outcomes.flatMap(({ order, jobIds }) =>
      jobIds
        .filter((id) => !jobs.some((job) => job.id === id && job.accountId === order.customer.accountId))
        .map((id) => `${id} was told for "${order.prompt}" and is not there`),
    ),

  'a key stands for one job': ({ jobs, outcomes, keys, now }) => {
    const byPrompt = Map.groupBy(jobs, ({ prompt }) => prompt);
    return outcomes.flatMap(({ order, jobIds, sendings, refusals }) => {
      const made = byPrompt.get(order.prompt) ?? [];
      if (order.idempotencyKey === undefined)
        return made.length > sendings ? [`${made.length} jobs for one sending`] : [];
      const told = new Set(jobIds);
      const bound = keys.filter(
        (row) => row.accountId === order.customer.accountId && row.key === order.idempotencyKey,
      );
      const findings = [];
      if (told.size > 1) findings.push(`"${order.prompt}" was told ${[...told].join(' and ')}`);
      if (made.length > 1) findings.push(`"${order.prompt}" became ${made.length} jobs`);
      if (told.size === 0 && refusals.length === 0) findings.push(`"${order.prompt}" was never answered`);
      const isForgotten = made.some(({ createdAt }) => now.getTime() - createdAt.getTime() > KEPT_MS);
      if (told.size === 1 && !isForgotten && !told.has(bound[0]?.jobId ?? '')) {
        findings.push(`the key of "${order.prompt}" is bound to ${bound[0]?.jobId}`);
      }
      return findings;
    });
  },

  'clients are refused nothing that they may have': ({ outcomes }) =>
    outcomes.flatMap(({ order, refusals }) => refusals.map((refusal) => `"${order.prompt}" was refused: ${refusal}`)),

  'nothing stays open': ({ jobs, queue, attempts, holds, keys, now }) => [
    ...jobs.filter(isOpen).map(({ id, status }) => `${id} is ${status}`),
    ...queue.map((id) => `${id} stands in the queue`),
    ...holds.filter((hold) => hold.isOpen).map(({ id, jobId }) => `reservation ${id} of ${jobId} is open`),
    ...attempts
      .filter(({ state }) => ['calling', 'accepted', 'ready'].includes(state))
      .map(({ jobId, number, state }) => `attempt ${number} of ${jobId} is ${state}`),
    ...keys
      .filter(({ jobId, deleteAt }) => jobId === null && deleteAt <= now)
      .map(({ key }) => `the claim on "${key}" has run out and is still there`),
  ],

  'nothing is submitted twice or unwritten': ({ jobs, attempts, submissions }) => {
    const tries = Map.groupBy(attempts, attemptPlace);
    const done = Map.groupBy(submissions, ({ upstream, prompt }) => `${upstream} ${prompt}`);
    const prompts = new Map(jobs.map(({ id, prompt }) => [id, prompt]));
    const unwritten = new Map(done);
    const findings = [...tries].flatMap(([place, tried]) => {
      const [{ jobId, upstream } = { jobId: '', upstream: '' }] = tried;
      const name = `${upstream} ${prompts.get(jobId)}`;
      unwritten.delete(name);
      const submitted = done.get(name)?.length ?? 0;
      const possible = tried.filter(({ state }) => state !== 'refused').length;
      const certain = tried.filter(({ state }) => state === 'collected').length;
      if (submitted > possible) return [`${place}: ${submitted} submissions for ${possible} attempts`];
      return submitted < certain ? [`${place}: ${submitted} submissions for ${certain} results`] : [];
    });
    return [...findings, ...[...unwritten.keys()].map((name) => `${name} was submitted and no attempt says so`)];
  },

  'a task belongs to one attempt': ({ attempts, submissions }) => {
    const known = submissions.flatMap(({ task }) => task ?? []);
    const named = attempts.filter(({ task }) => task !== null);
    return named.flatMap(({ jobId, number, task }) => {
      const own = known.filter((id) => task?.includes(id) === true);
      const sharing = named.filter((other) => own[0] !== undefined && other.task?.includes(own[0]) === true);
      if (own.length !== 1)
        return [`attempt ${number} of ${jobId} has the task ${task}, which the upstream knows ${own.length} times`];
      return sharing.length > 1 ? [`the task ${own[0]} belongs to ${sharing.length} attempts`] : [];
    });
  },

  'nobody gets more than was wanted': ({ jobs, attempts, assets }) =>
    jobs.flatMap(({ id, wanted }) => {
      const accepted = attempts.filter(({ jobId, state }) => jobId === id && !['refused', 'failed'].includes(state));
      const count = accepted.reduce((sum, attempt) => sum + attempt.count, 0);
      const delivered = assets.filter(({ jobId, kind }) => jobId === id && kind !== 'thumbnail').length;
      return count > wanted || delivered > wanted
        ? [`${id} wanted ${wanted}: ${count} accepted, ${delivered} delivered`]
        : [];
    }),

  'each state has its marks': ({ jobs }) =>
    jobs.flatMap((job) => (isMarked(job) ? [] : [`${job.id}: ${marksOf(job)}`])),

  'each job is paid once and rightly': ({ jobs, assets, entries }) => {
    const byReservation = Map.groupBy(entries, ({ reservationId }) => reservationId);
    const byJob = Map.groupBy(assets, ({ jobId }) => jobId);
    return jobs.flatMap((job) =>
      faultsOfMoney(job, byJob.get(job.id) ?? [], byReservation.get(job.reservationId) ?? []),
    );
  },

  'no reservation is without a job': ({ jobs, holds }) => {
    const known = new Set(jobs.map(({ reservationId }) => reservationId));
    return holds
      .filter(({ id }) => !known.has(id))
      .map(({ id, jobId }) => `reservation ${id} is for ${jobId}, which is not there`);
  },

  'the books follow from the entries': faultsOfBooks,

  'every result is there, whole and numbered': ({ jobs, assets, objects, files, now }) => {
    const rows = new Map(objects.map((row) => [row.key, row]));
    const byJob = Map.groupBy(assets, ({ jobId }) => jobId);
    return jobs.flatMap((job) => {
      const own = byJob.get(job.id) ?? [];
      const findings = own.some(({ ordinal }, place) => ordinal !== place)
        ? [`${job.id} has a gap in its results`]
        : [];
      const isKept = job.finishedAt !== null && now.getTime() < job.finishedAt.getTime() + KEPT_MS;
      for (const asset of own) {
        const [file, row] = [files.get(asset.key), rows.get(asset.key)];
        if (isKept && !isWhole(asset, file)) findings.push(`${job.id}: ${asset.key} is not what its row says`);
        if (isKept && row?.bytes !== asset.bytes) findings.push(`${job.id}: nobody will delete ${asset.key}`);
        if (!isKept && (file ?? row) !== undefined) findings.push(`${job.id}: ${asset.key} is still there`);
      }
      return findings;
    });
  },

  'nothing lies about': ({ jobs, objects, files, now }) => {
    const rows = new Set(objects.map(({ key }) => key));
    return [
      ...[...files.keys()]
        .filter((key) => !rows.has(key))
        .map((key) => `${key} lies in the folder and nobody knows it`),
      ...objects.filter(({ deleteAt }) => deleteAt <= now).map(({ key }) => `${key} should have gone`),
      ...jobs.flatMap(({ id, inputs }) =>
        inputs
          .filter((key) => rows.has(key) || files.has(key))
          .map((key) => `${key}, an input of ${id}, is still there`),
      ),
    ];
  },

  'the program has no fault to report': ({ complaints }) => complaints,
};

/** The rules that do not hold, each with what it found. */
export function findViolations(evidence: Evidence): readonly string[] {
  return Object.entries(RULES).flatMap(([name, rule]) => rule(evidence).map((finding) => `${name}: ${finding}`));
}

function isOpen({ status }: JobRow): boolean {
  return status === 'queued' || status === 'running';
}

function attemptPlace({ jobId, upstream }: AttemptRow): string {
  return `${jobId} at ${upstream}`;
}

function isMarked({
  status,
  errorCode,
  charged,
  finishedAt,
  acceptedAt,
  progress,
  createdAt,
  deadlineAt,
}: JobRow): boolean {
  if (finishedAt === null || charged === null || finishedAt < createdAt) return false;
  switch (status) {
    case 'succeeded':
      return errorCode === null && charged > 0n && acceptedAt !== null && progress === 100;
    case 'failed':
      return FAULTS.includes(errorCode ?? '') && charged === 0n && acceptedAt !== null;
    case 'queue_expired':
      return errorCode === 'queue_expired' && charged === 0n && acceptedAt === null && finishedAt >= deadlineAt;
    default:
      return false;
  }
}

function marksOf({ status, errorCode, charged, finishedAt, acceptedAt, progress }: JobRow): string {
  const times = [acceptedAt, finishedAt].map((time) => time?.toISOString()).join(', ');
  return `${status}, ${errorCode}, charged ${charged}, ${times}, ${progress}%`;
}

function faultsOfMoney(job: JobRow, assets: readonly AssetRow[], entries: readonly EntryRow[]): string[] {
  const results = assets.filter(({ kind }) => kind !== 'thumbnail');
  const isSuccess = job.status === 'succeeded';
  const cost = isSuccess ? costOfAssets(results) : undefined;
  const findings = faultsOfPayment(job.id, entries, cost);
  if (isSuccess !== results.length > 0) findings.push(`${job.id} is ${job.status} with ${results.length} results`);
  if (job.charged !== (cost ?? 0n)) findings.push(`${job.id} is worth ${cost ?? 0n} and is told as ${job.charged}`);
  return findings;
}

function costOfAssets(results: readonly AssetRow[]): bigint {
  const credits = results.reduce((sum, { kind, seconds }) => {
    return sum + (kind === 'image' ? CREDITS_PER_PICTURE : (seconds ?? 0) * CREDITS_PER_SECOND);
  }, 0);
  return BigInt(Math.round(credits * MICRO));
}

function isWhole(asset: AssetRow, file: ReturnType<Evidence['files']['get']>): boolean {
  if (file === undefined || BigInt(file.bytes) !== asset.bytes) return false;
  const { content } = file;
  if (content.kind === 'video') return asset.kind === 'video' && content.seconds === asset.seconds;
  return content.kind === asset.kind && asset.mimeType.startsWith('image/');
}

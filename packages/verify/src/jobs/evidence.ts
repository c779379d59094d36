// Everything there is to look at after a round, read with statements and file calls of its own: nothing here comes from
// the code that is on trial, apart from the connection.
import { createHash } from 'node:crypto';
import { filesIn, gatherLedger, type Ledger, type ObjectRow, objectsIn } from '../books.ts';
import type { World } from '../world.ts';
import type { Outcome } from './load.ts';
import type { Submission, Upstreams } from './upstreams.ts';

export interface JobRow {
  readonly id: string;
  readonly accountId: string;
  readonly model: string;
  readonly status: string;
  readonly progress: number;
  readonly wanted: number;
  readonly prompt: string;
  readonly inputs: readonly string[];
  readonly reservationId: string;
  readonly createdAt: Date;
  readonly acceptedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly deadlineAt: Date;
  readonly errorCode: string | null;
  readonly charged: bigint | null;
}

export interface AttemptRow {
  readonly jobId: string;
  readonly number: number;
  readonly upstream: string;
  readonly count: number;
  readonly state: string;
  /** As it was written. */
  readonly task: string | null;
}

export interface AssetRow {
  readonly jobId: string;
  readonly ordinal: number;
  readonly kind: string;
  readonly key: string;
  readonly mimeType: string;
  readonly bytes: bigint;
  readonly seconds: number | null;
}

interface KeyRow {
  readonly accountId: string;
  readonly key: string;
  readonly jobId: string | null;
  readonly deleteAt: Date;
}

interface FoundFile {
  readonly bytes: number;
  /** What its bytes are: a picture, a clip with its length, or neither. */
  readonly content: Content;
}

type Content =
  | { readonly kind: 'image' }
  | { readonly kind: 'video'; readonly seconds: number }
  | { readonly kind: 'neither' };

export interface Evidence extends Ledger {
  readonly now: Date;
  readonly jobs: readonly JobRow[];
  /** The ids of those that stand in the queue. */
  readonly queue: readonly string[];
  readonly attempts: readonly AttemptRow[];
  readonly assets: readonly AssetRow[];
  readonly objects: readonly ObjectRow[];
  readonly keys: readonly KeyRow[];
  /** By the keys of their objects. */
  readonly files: ReadonlyMap<string, FoundFile>;
  readonly submissions: readonly Submission[];
  readonly outcomes: readonly Outcome[];
  readonly complaints: readonly string[];
}

/** Of these accounts; objects and files are looked at all together, since none without an owner may be left over. */
export async function gatherEvidence(
  world: World<Upstreams>,
  outcomes: readonly Outcome[],
  accountIds: readonly string[],
): Promise<Evidence> {
  const of = [accountIds];
  const { db, upstreams, complaints } = world;
  const jobs = await db.rows<JobRow>(JOBS, of);
  const prompts = new Set(outcomes.map(({ order }) => order.prompt));
  return {
    ...(await gatherLedger(world, accountIds)),
    now: await world.now(),
    jobs,
    queue: (await db.rows<{ id: string }>(QUEUE, of)).map(({ id }) => id),
    attempts: await db.rows<AttemptRow>(ATTEMPTS, of),
    assets: await db.rows<AssetRow>(ASSETS, of),
    objects: await objectsIn(world),
    keys: await db.rows<KeyRow>(KEYS, of),
    files: await filesIn(world, async (bytes) => ({ bytes: bytes.length, content: await contentOf(bytes) })),
    submissions: upstreams.submissions.filter(({ prompt }) => prompts.has(prompt)),
    outcomes,
    complaints: complaints.splice(0),
  };
}

const JOBS = `select id, account_id as "accountId", model, status, progress, wanted,
    request->'request'->>'prompt' as prompt,
    array(select picture->>'key' from json_array_elements(request->'request'->'referenceImages') as picture) as inputs,
    reservation_id as "reservationId", created_at as "createdAt", accepted_at as "acceptedAt",
    finished_at as "finishedAt", dispatch_deadline_at as "deadlineAt", error_code as "errorCode", charged
  from jobs where account_id = any ($1)`;

const QUEUE = 'select job_id as id from open_jobs where account_id = any ($1)';

const ATTEMPTS = `select job_id as "jobId", number, upstream_id as upstream, count, state, task::text as task
  from job_attempts where job_id in (select id from jobs where account_id = any ($1))`;

const ASSETS = `select job_id as "jobId", ordinal, kind, object_key as key, mime_type as "mimeType", bytes, seconds
  from job_assets where job_id in (select id from jobs where account_id = any ($1)) order by job_id, ordinal`;

const KEYS = `select account_id as "accountId", key, job_id as "jobId", delete_at as "deleteAt"
  from idempotency_keys where account_id = any ($1)`;

const known = new Map<string, Promise<Content>>();

/** Upstreams give the same few files over and over. */
function contentOf(bytes: Buffer): Promise<Content> {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const content = known.get(digest) ?? look(bytes);
  known.set(digest, content);
  return content;
}

async function look(bytes: Buffer): Promise<Content> {
  const header = bytes.indexOf('mvhd');
  if (bytes.subarray(4, 8).toString('latin1') === 'ftyp' && header > 0 && bytes.includes('mdat')) {
    // Version 0: four bytes of version, two times, then the scale and the length.
    return { kind: 'video', seconds: bytes.readUInt32BE(header + 20) / bytes.readUInt32BE(header + 16) };
  }
  const { default: sharp } = await import('sharp');
  const picture = await sharp(bytes, { failOn: 'warning' })
    .raw()
    .toBuffer()
    .catch(() => Buffer.alloc(0));
  return picture.length > 0 ? { kind: 'image' } : { kind: 'neither' };
}

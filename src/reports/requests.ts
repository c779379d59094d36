import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { firstUuidAt } from '../ids.ts';
import { postJournal } from '../ledger/index.ts';
import { EXPORT_ROWS_PER_READ } from '../limits.ts';
import { ONE_REQUEST, requestPage } from './request-statements.ts';
import { CONSOLE } from './usage.ts';

/** A row of the request log, with what the ledger says of its reservation. */
export interface RequestRecord {
  readonly id: string;
  /** The id in the answer, which callers may use more than once. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string | null;
  /** Of the key, or of the app behind a grant. */
  readonly keyName: string | null;
  /** Who ran it in the console. */
  readonly personId: string | null;
  readonly jobId: string | null;
  readonly model: string | null;
  readonly endpoint: string;
  /** Of the answer, as HTTP has it. */
  readonly status: number;
  /** Null where nothing was reserved. */
  readonly state: 'running' | 'settled' | 'refunded' | null;
  /** Of the answer, or of the job that came of it. */
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly isStreamed: boolean;
  /** How many refusals the row stands for. */
  readonly requests: number;
  readonly upstreamId: string | null;
  readonly reservationId: string | null;
  readonly held: MicroCredits;
  readonly charged: MicroCredits;
  /** What it cost the operator; null where that is not known. */
  readonly cost: MicroCredits | null;
  readonly createdAt: Date;
}

/** What is left out does not matter. */
export interface RequestFilter {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly status?: 'ok' | 'error' | undefined;
  readonly state?: NonNullable<RequestRecord['state']> | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly since?: Date | undefined;
  /** Not included. */
  readonly until?: Date | undefined;
}

export interface RequestListing extends RequestFilter {
  /** A place in the order of time, whether or not the row is still there. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Newest first. Throws `invalid_parameter` when `after` is no id. */
export async function listRequests(db: Db, listing: RequestListing): Promise<readonly RequestRecord[]> {
  return selectRequests(db, await posted(db, listing));
}

/** The whole range, a page at a time. What is charged while it is read may be missing. */
export async function* requestPages(db: Db, filter: RequestFilter): AsyncGenerator<readonly RequestRecord[], void> {
  const listing = await posted(db, { ...filter, limit: EXPORT_ROWS_PER_READ });
  let rows = await selectRequests(db, listing);
  while (rows.length > 0) {
    yield rows;
    if (rows.length < EXPORT_ROWS_PER_READ) return;
    rows = await selectRequests(db, { ...listing, after: rows.at(-1)?.id });
  }
}

/** The listing with the account that it can be narrowed to, whose journal is posted; without one, that of all accounts. */
async function posted(db: Db, listing: RequestListing): Promise<RequestListing> {
  const account = listing.account ?? (await accountOfKey(db, listing.key));
  await postJournal(db, account);
  return { ...listing, account };
}

/** Undefined alike for another account's, where one is given. */
export async function findRecord(db: Db, account: string | undefined, id: string): Promise<RequestRecord | undefined> {
  if (!UUID.test(id)) return undefined;
  await postJournal(db, account);
  const [record] = await db.rows<RequestRecord>(ONE_REQUEST, [id, account]);
  return record;
}

function selectRequests(db: Db, listing: RequestListing): Promise<readonly RequestRecord[]> {
  const { account, key, model, endpoint, requestId, status, code, state, limit } = listing;
  const statement = requestPage({
    ofAccount: account !== undefined,
    lead: leadOf(listing),
    isJudged: status !== undefined || code !== undefined || state !== undefined,
  });
  const { from, before } = idRange(listing);
  return db.rows<RequestRecord>(statement, [
    account,
    from,
    before,
    key,
    model,
    endpoint,
    requestId,
    status,
    code,
    state,
    limit,
  ]);
}

/** The most selective filter decides which index is walked. */
function leadOf({ requestId, status, code, state }: RequestFilter): Parameters<typeof requestPage>[0]['lead'] {
  if (requestId !== undefined) return 'request';
  if (state === 'running') return 'open';
  // Only what was answered with an error, or became a job, can have been refunded.
  return status === 'error' || code !== undefined || state === 'refunded' ? 'failures' : 'all';
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function idRange({ since, until, after }: RequestListing): { from: string; before: string } {
  if (after !== undefined && !UUID.test(after)) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of a request.', param: 'after' });
  }
  const bounds = [after, until && firstUuidAt(until.getTime())].filter((bound) => bound !== undefined).sort();
  return { from: firstUuidAt(since?.getTime() ?? 0), before: bounds[0] ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
}

async function accountOfKey(db: Db, key: string | undefined): Promise<string | undefined> {
  if (key === undefined || key === CONSOLE) return undefined;
  const [row] = await db.rows<{ id: string }>(
    `select account_id as id from api_keys where id = $1
     union all select account_id from oauth_grants where id = $1`,
    [key],
  );
  // No account has it: then nothing is found.
  return row?.id ?? '';
}

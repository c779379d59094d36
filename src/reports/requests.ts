import type { MicroCredits } from '../credits.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { postJournal } from '../ledger/index.ts';
import { CONSOLE, KEY } from './usage.ts';

/** A call of any account as the ledger knows it, for the operator. */
export interface RequestRecord {
  /** Of its reservation: callers may use a request's id more than once. */
  readonly id: string;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly jobId: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly state: 'running' | 'settled' | 'refunded';
  readonly units: JsonObject | null;
  readonly held: MicroCredits;
  readonly charged: MicroCredits;
  readonly createdAt: Date;
}

/** What is left out does not matter. */
export interface RequestFilter {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly status?: RequestRecord['state'] | undefined;
  readonly requestId?: string | undefined;
  readonly since?: Date | undefined;
  /** Not included. */
  readonly until?: Date | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Newest first. Throws `invalid_parameter` when `after` is no request. */
export async function listRequests(db: Db, filter: RequestFilter): Promise<readonly RequestRecord[]> {
  const account = filter.account ?? (await accountOfKey(db, filter.key));
  await postJournal(db, account);
  if (filter.after !== undefined && !(await isRequest(db, account, filter.after))) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of a request.', param: 'after' });
  }
  const { key, model, endpoint, status, requestId, since, until, after, limit } = filter;
  const values = [account, after, key, model, endpoint, requestId, since, until, status, limit];
  return db.rows<RequestRecord>(account === undefined ? OF_ALL : OF_ACCOUNT, values);
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

/** Of this account, where one is given: another's says nothing about this one's order. */
async function isRequest(db: Db, account: string | undefined, id: string): Promise<boolean> {
  const found = await db.rows(
    'select from reservations where id::text = $1 and id = $1::uuid and account_id = coalesce($2, account_id)',
    [uuidOr(id), account ?? null],
  );
  return found.length > 0;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function uuidOr(id: string): string {
  return UUID.test(id) ? id : '00000000-0000-0000-0000-000000000000';
}

const COLUMNS = `r.id, r.request_id as "requestId", r.account_id as "accountId", r.key_id as "keyId", r.job_id as "jobId",
  r.model, r.endpoint, told.state, told.units, told.charged, r.created_at as "createdAt",
  case told.state when 'running' then r.amount else 0 end as held`;

const TOLD = `cross join lateral (
    select coalesce(sum(e.charged), 0)::bigint as charged,
      (array_agg(e.units) filter (where e.units is not null))[1] as units,
      case when not coalesce(bool_or(e.type in ('settle', 'refund')), false) then 'running'
        when bool_or(e.type = 'settle') then 'settled' else 'refunded' end as state
    from ledger_entries e where e.reservation_id = r.id
  ) as told`;

const FILTERS = `($3::text is null or ${KEY} = $3) and ($4::text is null or r.model = $4)
  and ($5::text is null or r.endpoint = $5) and ($6::text is null or r.request_id = $6)
  and ($7::timestamptz is null or r.created_at >= $7) and ($8::timestamptz is null or r.created_at < $8)
  and ($9::text is null or told.state = $9)`;

/** Ids of reservations are made in the order of time. */
const OF_ALL = `select ${COLUMNS} from reservations r ${TOLD}
  where $1::text is null and ($2::uuid is null or r.id < $2) and ${FILTERS}
  order by r.id desc limit $10`;

/** By the account's own entries, which are in its order. */
const OF_ACCOUNT = `select ${COLUMNS} from ledger_entries h join reservations r on r.id = h.reservation_id ${TOLD}
  where h.account_id = $1 and h.type = 'reserve' and ${FILTERS} and ($2::uuid is null or h.number < (
    select number from ledger_entries where reservation_id = $2 and type = 'reserve'))
  order by h.number desc limit $10`;

// Fills a deployment's database with the rows that a year leaves behind, by generated SQL.
import type { Client } from 'pg';

const ACCOUNTS = 1_000;
const MODELS = 20;
/** One call in so many is a job. */
const CALLS_PER_JOB = 50;
const CALLS_PER_STATEMENT = 50_000;
const LOGGED_MS = 30 * 24 * 3_600_000;

/** Rows in the order of time: `calls` of them are spread over all of it. */
export interface Past {
  readonly client: Client;
  readonly calls: number;
  readonly beginMs: number;
  readonly endMs: number;
}

/** Accounts with a key and a grant each, besides those that are there, and the prices of their calls. */
export async function addAccounts({ client, beginMs }: Past): Promise<void> {
  const at = new Date(beginMs);
  const values = [ACCOUNTS, at];
  await client.query(
    `insert into accounts (id, name, groups, created_at, updated_at)
     select 'acct_' || lpad(n::text, 24, '0'), 'past', '{default}', $2::timestamptz, $2::timestamptz
     from generate_series(1, $1::int) as n`,
    values,
  );
  await client.query(
    `insert into api_keys (id, account_id, name, digest, prefix, created_at)
     select 'key_' || lpad(n::text, 24, '0'), 'acct_' || lpad(n::text, 24, '0'), 'past', sha256(n::text::bytea), 'past', $2
     from generate_series(1, $1::int) as n`,
    values,
  );
  await client.query(
    `select ledger_grant($2, 'grant_' || lpad(n::text, 24, '0'), 'acct_' || lpad(n::text, 24, '0'), 1000000000000000, 'past',
       null, null) from generate_series(1, $1::int) as n`,
    values,
  );
  await client.query(
    `insert into prices select md5(n::text)::uuid, json_build_object('rates', json_build_array(json_build_object('unit',
       'input_tokens', 'micro', 2000000 + n), json_build_object('unit', 'output_tokens', 'micro', 8000000 + n)))
     from generate_series(0, $1::int - 1) as n`,
    [MODELS],
  );
}

/**
 * The calls from one place in the order of time to another, as the ledger itself would have written them, but in bulk. The
 * derived figures are added up once, at the end. No call may be under way.
 */
export async function addCalls({ client, calls, beginMs, endMs }: Past, from: number, upto: number): Promise<void> {
  const callMs = (endMs - beginMs) / calls;
  await client.query('set session_replication_role = replica');
  await client.query(ACCOUNTS_NOW);
  await client.query('create unique index on past_accounts (place)');
  for (let start = from; start < upto; start += CALLS_PER_STATEMENT) {
    const end = Math.min(start + CALLS_PER_STATEMENT, upto) - 1;
    await client.query('begin');
    await client.query(CALLS, [start, end, beginMs, callMs, from]);
    for (const statement of [RESERVATIONS, ENTRIES, JOBS, ATTEMPTS, ASSETS]) await client.query(statement);
    await client.query(REQUESTS, [endMs - LOGGED_MS]);
    await client.query('drop table past_calls');
    await client.query('commit');
  }
  const lastAt = new Date(beginMs + upto * callMs);
  for (const statement of FIGURES) await client.query(statement, [upto - from, lastAt]);
  await client.query('drop table past_accounts');
  await client.query('set session_replication_role = origin');
}

/** Every account's figures before these calls, from which they are computed. */
const ACCOUNTS_NOW = `
  create table past_accounts as
  select row_number() over (order by account_id) - 1 as place, account_id, entries, available, updated_at,
    (select min(id) from api_keys where api_keys.account_id = balances.account_id) as key_id,
    (select min(id) from grants where grants.account_id = balances.account_id) as grant_id
  from balances where available >= 100000000000`;

/** How many of the calls were an account's. */
const SHARES = `
  (select *, ($1::bigint - place - 1) / count(*) over () + 1 as calls from past_accounts) as share`;
const FIGURES = [
  `update balances set available = balances.available - 700 * calls, charged = charged + 700 * calls,
     entries = balances.entries + 2 * calls, updated_at = greatest(balances.updated_at, $2)
   from ${SHARES} where share.account_id = balances.account_id`,
  `update grants set remaining = remaining - 700 * calls from ${SHARES} where grant_id = grants.id and $2::timestamptz is not null`,
  // Of no period that any of the calls was in.
  `update key_spending set spent = spent + 700 * calls, day = '2000-01-01', week = '2000-01-01', month = '2000-01-01',
     day_spent = 0, week_spent = 0, month_spent = 0
   from ${SHARES} where share.key_id = key_spending.key_id and $2::timestamptz is not null`,
];

/** Accounts take turns, so that the entries of each lie among those of all others, as traffic leaves them. */
const CALLS = `
  create temporary table past_calls on commit drop as
  select n, ms, account.account_id, account.key_id, account.grant_id, (n - $5::bigint) / accounts.count as turn,
    account.entries, account.available, greatest(to_timestamp(ms / 1000.0), account.updated_at) as at,
    (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid as id,
    case when n % ${CALLS_PER_JOB} = 0 then 'job_0' || lpad(to_hex(ms), 11, '0') || lpad(to_hex(n), 12, '0') end as job_id,
    'req_0' || lpad(to_hex(ms), 11, '0') || lpad(to_hex(n), 12, '0') as request_id,
    'studio/model-' || n % ${MODELS} as model, md5((n % ${MODELS})::text)::uuid as price_id
  from generate_series($1::bigint, $2::bigint) as n
  cross join (select count(*) as count from past_accounts) as accounts
  cross join lateral (select ($3::float8 + n * $4::float8)::bigint as ms) as time
  join past_accounts account on account.place = (n - $5::bigint) % accounts.count`;

const RESERVATIONS = `
  insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, job_id, model, endpoint,
    price_id)
  select id, 1000, at, account_id, key_id, array[grant_id], '{1000}', request_id, job_id, model,
    case when job_id is null then 'chat' else 'images' end, price_id
  from past_calls order by n`;

const ENTRIES = `
  insert into ledger_entries (account_id, number, type, granted, available, reserved, charged, lapsed, balance,
    created_at, reservation_id, grant_ids, parts, units)
  select account_id, entries + 2 * turn + 1 + step,
    case step when 0 then 'reserve' else 'settle' end, 0,
    case step when 0 then -1000 else 300 end,
    case step when 0 then 1000 else -1000 end,
    case step when 0 then 0 else 700 end, 0,
    available - 700 * turn - case step when 0 then 1000 else 700 end,
    at, id, array[grant_id], case step when 0 then '{-1000}'::bigint[] else '{300}' end,
    case step when 1 then '{"input_tokens":1200,"output_tokens":340}'::json end
  from past_calls cross join (values (0), (1)) as steps (step) order by n, step`;

const JOBS = `
  insert into jobs (id, account_id, key_id, groups, kind, endpoint, model, status, progress, wanted, request, request_id,
    reservation_id, created_at, updated_at, accepted_at, finished_at, dispatch_deadline_at, charged)
  select job_id, account_id, key_id, '{default}', 'image', 'images', model, 'succeeded', 100, 1,
    '{"prompt":"a gate in the rain, seen from the road, with a lamp and a keeper in a blue coat"}', request_id, id, at, at, at,
    at, at, 700
  from past_calls where job_id is not null order by n`;

const ATTEMPTS = `
  insert into job_attempts (job_id, number, upstream_id, upstream_model, count, state, started_at, updated_at)
  select job_id, 1, 'studio', 'studio/model', 1, 'collected', at, at from past_calls where job_id is not null order by n`;

const ASSETS = `
  insert into job_assets (id, job_id, ordinal, kind, object_key, mime_type, bytes, created_at)
  select replace(job_id, 'job_', 'ast_'), job_id, 0, 'image', 'past/' || job_id, 'image/png', 100000, at
  from past_calls where job_id is not null order by n`;

/** As many as retention leaves. */
const REQUESTS = `
  insert into request_log (id, created_at, account_id, key_id, request_id, endpoint, model, status, duration_ms, streamed,
    upstream_id, reservation_id, job_id, requests)
  select id, at, account_id, key_id, request_id, case when job_id is null then 'chat' else 'images' end, model, 200, 800,
    false, 'studio', id, job_id, 1
  from past_calls where ms >= $1 order by n`;

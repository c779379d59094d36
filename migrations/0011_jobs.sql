-- Jobs: media work that outlives its request.

create table jobs (
  id text primary key,
  account_id text not null references accounts,
  key_id text,
  groups text[] not null,
  kind text not null check (kind in ('image', 'video', 'audio')),
  endpoint text not null,
  model text not null,
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'queue_expired', 'canceled')),
  progress smallint not null default 0 check (progress between 0 and 100),
  wanted smallint not null check (wanted > 0),
  request json not null,
  request_id text not null,
  reservation_id uuid not null unique,
  created_at timestamptz not null,
  updated_at timestamptz,
  accepted_at timestamptz,
  finished_at timestamptz,
  dispatch_deadline_at timestamptz not null,
  error_code text,
  charged bigint check (charged >= 0),
  cost bigint check (cost >= 0),
  constraint jobs_finished
    check ((finished_at is not null) = (status in ('succeeded', 'failed', 'queue_expired', 'canceled'))),
  constraint jobs_charged check ((charged is not null) = (finished_at is not null)),
  constraint jobs_error check ((error_code is not null) = (status in ('failed', 'queue_expired'))),
  constraint jobs_accepted check (status <> 'running' or accepted_at is not null)
);
comment on table jobs is 'Media work with its state. The terminal state and the money change in one transaction.';
comment on column jobs.key_id is 'An API key or an OAuth grant; null for the console.';
comment on column jobs.groups is 'The caller''s routing groups at admission: which upstreams may serve the job.';
comment on column jobs.wanted is 'How many results were requested.';
comment on column jobs.request is
  'The request and its estimate; json, not jsonb, keeps numbers as written. Never searched.';
comment on column jobs.accepted_at is 'When an upstream first accepted it.';
comment on column jobs.dispatch_deadline_at is
  'A job that no upstream has accepted until then expires and is refunded.';
comment on column jobs.charged is 'Micro-credits, once it has ended.';
comment on column jobs.cost is
  'Micro-credits that a succeeded job cost the operator; null where one of its routes states no cost.';

create index jobs_newest on jobs (account_id, created_at desc, id desc);
create index jobs_all_newest on jobs (created_at desc, id desc);

create table open_jobs (
  job_id text primary key references jobs,
  account_id text not null,
  due_at timestamptz not null,
  place timestamptz not null,
  fence integer not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table open_jobs is
  'The queue: one small row per job that has not ended, apart from jobs because it changes at every step. A worker '
  'leases a job by moving due_at into the future and incrementing fence.';
comment on column open_jobs.due_at is 'When any worker may lease it; while it is leased, when the lease runs out.';
comment on column open_jobs.place is
  'Order among due jobs: by age, with a delay for each open job that its account had before it, so that one account '
  'cannot starve the others.';
comment on column open_jobs.fence is
  'Grows with each lease. Every write names the fence of its lease, so a worker that lost its lease can change '
  'nothing.';

create index open_jobs_due on open_jobs (due_at);
create index open_jobs_account on open_jobs (account_id);

create table job_attempts (
  job_id text not null references jobs,
  number smallint not null,
  upstream_id text not null,
  upstream_model text not null,
  count smallint not null check (count > 0),
  state text not null check (state in ('calling', 'refused', 'accepted', 'ready', 'collected', 'failed')),
  task json,
  outputs json,
  collected json,
  tries smallint not null default 0,
  error_code text,
  detail text,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (job_id, number)
) with (fillfactor = 70);
comment on table job_attempts is
  'One call to one upstream for some of a job''s results. The row is committed before the call: one that is still '
  '"calling" when the job is leased again had an unknown outcome, and is never repeated.';
comment on column job_attempts.count is 'How many results this call is for.';
comment on column job_attempts.state is
  'calling -> refused | accepted | ready | collected | failed; accepted -> ready | collected | failed; ready -> '
  'collected | failed. A refused attempt may be followed by one at another upstream.';
comment on column job_attempts.task is
  'The upstream''s handle of the running work, all that a poll needs. Never searched.';
comment on column job_attempts.outputs is 'Where the upstream offers the results. Never searched.';
comment on column job_attempts.collected is 'What was stored of the outputs. Never searched.';
comment on column job_attempts.tries is
  'Consecutive polls or collections, by any process, whose answer could not be used.';
comment on column job_attempts.detail is 'The upstream''s own words with secrets redacted, for operators only.';

create table job_assets (
  id text primary key,
  job_id text not null references jobs,
  ordinal smallint not null check (ordinal >= 0),
  kind text not null check (kind in ('image', 'video', 'audio', 'thumbnail')),
  object_key text not null,
  mime_type text not null,
  bytes bigint not null,
  width integer,
  height integer,
  seconds double precision,
  created_at timestamptz not null,
  unique (job_id, ordinal)
);
comment on table job_assets is 'Results of succeeded jobs.';
comment on column job_assets.ordinal is 'Place in the job''s list of results, from 0.';
comment on column job_assets.object_key is 'Key of the bytes in stored_objects.';
comment on column job_assets.seconds is 'Length of sound or video as a decoder plays it.';

create table idempotency_keys (
  account_id text not null,
  credential text not null,
  key text not null,
  fingerprint bytea not null,
  job_id text,
  claim uuid,
  delete_at timestamptz not null,
  primary key (account_id, credential, key),
  constraint idempotency_keys_job_or_claim check ((job_id is null) = (claim is not null))
);
comment on table idempotency_keys is
  'Callers'' Idempotency-Key values: a repeated create call is answered with the first one''s job. Without a job the '
  'row is a claim, which keeps repeats out while the request''s media are fetched.';
comment on column idempotency_keys.credential is 'API key or OAuth grant of the request: the scope of its keys.';
comment on column idempotency_keys.job_id is
  'No foreign key: a job that is deleted would be looked for among all keys, and keys are forgotten before their jobs.';
comment on column idempotency_keys.fingerprint is 'Digest of the request, to tell a repeat from another request.';
comment on column idempotency_keys.claim is
  'Id of the claim: a request that fails deletes its own claim, never a later one.';
comment on column idempotency_keys.delete_at is 'When the claim runs out, or the key is forgotten.';

create index idempotency_keys_due on idempotency_keys (delete_at);

-- Jobs: work that outlives a request. Time is always given by the caller.

create table jobs (
  id text primary key,
  account_id text not null references accounts,
  key_id text,
  -- The caller's routing groups when the job was admitted: which upstreams may be asked.
  groups text[] not null,
  kind text not null check (kind in ('image', 'video', 'audio')),
  endpoint text not null,
  model text not null,
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'queue_expired', 'canceled')),
  progress smallint not null default 0 check (progress between 0 and 100),
  -- How many results were asked for.
  wanted smallint not null check (wanted > 0),
  -- What was asked, as text: its numbers are kept as they were written. Never searched.
  request json not null,
  request_id text not null,
  reservation_id uuid not null unique,
  created_at timestamptz not null,
  updated_at timestamptz,
  -- When an upstream first accepted it.
  accepted_at timestamptz,
  finished_at timestamptz,
  dispatch_deadline_at timestamptz not null,
  error_code text,
  -- In micro-credits, once it has ended.
  charged bigint check (charged >= 0),
  check ((finished_at is not null) = (status in ('succeeded', 'failed', 'queue_expired', 'canceled'))),
  check ((charged is not null) = (finished_at is not null)),
  check ((error_code is not null) = (status in ('failed', 'queue_expired'))),
  check (status <> 'running' or accepted_at is not null)
);
create index jobs_newest on jobs (account_id, created_at desc, id desc);

-- The queue: one small row for each job that has not ended, because it changes whenever somebody looks after the job.
-- Whoever wants to work on a job takes it by pushing `due_at` into the future (which is its lease) and counting `fence`
-- up; every later write names that fence, so a worker that lost its lease can change nothing.
create table open_jobs (
  job_id text primary key references jobs,
  account_id text not null,
  -- From when on anybody may take it.
  due_at timestamptz not null,
  -- Where it stands among those that are due: by age, with a handicap for each open job its account had before it.
  place timestamptz not null,
  fence integer not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index open_jobs_due on open_jobs (due_at);
create index open_jobs_account on open_jobs (account_id);

-- One call to one upstream for some of a job's results. It is written before the call: a row still `calling` when its
-- job is taken up again means that nobody knows what became of it.
create table job_attempts (
  job_id text not null references jobs,
  number smallint not null,
  upstream_id text not null,
  upstream_model text not null,
  -- How many results this call is for.
  count smallint not null check (count > 0),
  -- calling -> refused | accepted | ready | collected | failed; accepted -> ready | collected | failed;
  -- ready -> collected | failed. A refused one may be made good by another.
  state text not null check (state in ('calling', 'refused', 'accepted', 'ready', 'collected', 'failed')),
  -- What the upstream needs to be asked after it; where its results are; what was stored of them. Never searched.
  task json,
  outputs json,
  collected json,
  error_code text,
  -- The upstream's own words, for the operator only.
  detail text,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (job_id, number)
) with (fillfactor = 70);

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

-- Everything in the object store that must go one day. What is being stored before its owner exists has its row first,
-- with an early day: if its owner never comes to be, it is cleaned away.
create table stored_objects (
  key text primary key,
  account_id text not null,
  mime_type text not null,
  bytes bigint not null,
  delete_at timestamptz not null
);
create index stored_objects_due on stored_objects (delete_at);

-- What makes a repeated create call find the first one's job. Without a job it is a claim: somebody prepares the request,
-- until `delete_at` at most.
create table idempotency_keys (
  account_id text not null,
  -- The key or the grant under which it was sent.
  credential text not null,
  key text not null,
  fingerprint bytea not null,
  job_id text references jobs,
  claim uuid,
  -- When the claim runs out, or the fingerprint is forgotten.
  delete_at timestamptz not null,
  primary key (account_id, credential, key),
  check ((job_id is null) = (claim is not null))
);
create index idempotency_keys_due on idempotency_keys (delete_at);

create table files (
  id text primary key,
  account_id text not null references accounts,
  object_key text not null unique,
  filename text not null,
  purpose text,
  mime_type text not null,
  bytes bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index files_live on files (account_id, expires_at);

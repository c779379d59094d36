-- Transcriptions: sound to text, as records that outlive their requests.

create table transcriptions (
  id text primary key,
  account_id text not null references accounts,
  key_id text,
  model text not null,
  request json not null,
  object_key text,
  seconds double precision not null check (seconds > 0),
  status text not null
    check (status in ('pending', 'processing', 'completed', 'failed', 'unavailable', 'expired')),
  settlement_state text not null check (settlement_state in ('pending', 'unknown', 'settled', 'released')),
  reservation_id uuid not null unique,
  upstream_id text,
  upstream_model text,
  task json,
  owner text,
  lease_until timestamptz not null,
  fence integer not null default 0,
  result json,
  charged bigint check (charged >= 0),
  error_code text,
  created_at timestamptz not null,
  completed_at timestamptz,
  expires_at timestamptz,
  constraint transcriptions_completed check ((completed_at is not null) = (status not in ('pending', 'processing'))),
  constraint transcriptions_charged check ((charged is not null) = (completed_at is not null)),
  constraint transcriptions_settlement
    check ((settlement_state in ('settled', 'released')) = (completed_at is not null)),
  constraint transcriptions_settled check ((settlement_state = 'settled') = (status in ('completed', 'expired'))),
  constraint transcriptions_result check ((result is not null) = (status = 'completed')),
  constraint transcriptions_error check ((error_code is not null) = (status in ('failed', 'unavailable')))
);
comment on table transcriptions is
  'One record per transcription, committed together with its reservation. State, result and money change in one '
  'transaction.';
comment on column transcriptions.id is 'The request id that the caller was answered with.';
comment on column transcriptions.key_id is 'An API key or an OAuth grant; null for the console.';
comment on column transcriptions.request is
  'Options of the answer. Neither the caller''s prompt nor the source of the sound.';
comment on column transcriptions.object_key is
  'The stored sound, until the work ends; null for a small clip, kept in memory.';
comment on column transcriptions.seconds is 'Measured length of the sound, by which it is priced.';
comment on column transcriptions.settlement_state is
  'pending: the credits are reserved; unknown: the process that worked on it is gone, and another one finds the '
  'outcome out.';
comment on column transcriptions.upstream_id is 'Upstream of the last attempt, committed before the call.';
comment on column transcriptions.task is
  'The upstream''s handle of the running work, all that a poll needs. Never searched.';
comment on column transcriptions.owner is 'Process that works on it.';
comment on column transcriptions.lease_until is
  'First lease. Another process takes the record over when both this one and its owner''s in reservation_owners have '
  'run out.';
comment on column transcriptions.fence is
  'Grows with each takeover. Every write names its fence, so a process that lost the record can change nothing.';
comment on column transcriptions.result is
  'Null once it has expired. json, not jsonb: a transcript may hold characters that jsonb refuses.';
comment on column transcriptions.charged is 'Micro-credits, once it has ended.';
comment on column transcriptions.expires_at is 'When the result is deleted; null keeps it for ever.';

create index transcriptions_newest on transcriptions (account_id, created_at desc, id desc);
create index transcriptions_open on transcriptions (lease_until) where status in ('pending', 'processing');
create index transcriptions_expiring on transcriptions (expires_at) where status = 'completed';

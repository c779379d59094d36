-- Transcriptions: one record for each, from the moment its credits are held. Time is always given by the caller.

create table transcriptions (
  -- The request id that its caller was told.
  id text primary key,
  account_id text not null references accounts,
  key_id text,
  model text not null,
  -- How the answer was wanted. Neither the caller's words nor where the sound came from.
  request json not null,
  -- The sound, until the work has ended.
  object_key text not null,
  seconds double precision not null check (seconds > 0),
  status text not null
    check (status in ('pending', 'processing', 'completed', 'failed', 'unavailable', 'expired')),
  -- pending: the credits are held. unknown: the process that held them is gone, and another one finds out.
  settlement_state text not null check (settlement_state in ('pending', 'unknown', 'settled', 'released')),
  reservation_id uuid not null unique,
  -- Who was asked last, written before the call.
  upstream_id text,
  upstream_model text,
  -- What the upstream needs to be asked after it. Never searched.
  task json,
  -- The process that works on it. Another may take it when both this lease and the owner's own have run out; it counts
  -- `fence` up, and every write names the fence, so whoever lost a record can change nothing.
  owner text,
  lease_until timestamptz not null,
  fence integer not null default 0,
  -- Gone when it has expired. As text, because a transcript may hold what jsonb refuses.
  result json,
  -- In micro-credits, once it has ended.
  charged bigint check (charged >= 0),
  error_code text,
  created_at timestamptz not null,
  completed_at timestamptz,
  -- Null keeps it for ever.
  expires_at timestamptz,
  check ((completed_at is not null) = (status not in ('pending', 'processing'))),
  check ((charged is not null) = (completed_at is not null)),
  check ((settlement_state in ('settled', 'released')) = (completed_at is not null)),
  check ((settlement_state = 'settled') = (status in ('completed', 'expired'))),
  check ((result is not null) = (status = 'completed')),
  check ((error_code is not null) = (status in ('failed', 'unavailable')))
);
create index transcriptions_open on transcriptions (lease_until) where status in ('pending', 'processing');
create index transcriptions_expiring on transcriptions (expires_at) where status = 'completed';

-- The request log: what was asked for and how it was answered, for people to look at. Money is never told from it.

create table request_log (
  id uuid primary key,
  created_at timestamptz not null,
  account_id text not null,
  key_id text,
  person_id text,
  request_id text not null,
  endpoint text not null,
  model text,
  status smallint not null,
  error_code text,
  duration_ms integer not null,
  streamed boolean not null,
  upstream_id text,
  reservation_id uuid,
  job_id text,
  cost bigint check (cost >= 0),
  requests integer not null check (requests > 0)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table request_log is
  'One row per authenticated request that asked for work, refused ones included. Written behind in batches after the '
  'answer: a process that is killed loses the rows that it has not written. No foreign keys: a batch must not fail for '
  'one row.';
comment on column request_log.id is
  'UUID version 7 made from created_at, so that the order of ids is the order of time and ranges of time are ranges of ids.';
comment on column request_log.created_at is 'When the request came.';
comment on column request_log.key_id is 'An API key or an OAuth grant; null for the console.';
comment on column request_log.person_id is 'Who ran it in the console.';
comment on column request_log.request_id is 'The id in the answer. Callers may use one more than once.';
comment on column request_log.model is 'As it was asked for; such a model need not exist.';
comment on column request_log.error_code is
  'Code of the answer, or of the frame that ended a stream. A job that fails later has its own in jobs.';
comment on column request_log.upstream_id is
  'Upstream of the last attempt of a call; jobs and transcriptions name theirs in their own tables.';
comment on column request_log.reservation_id is 'What it cost is told by the ledger''s entries of this reservation.';
comment on column request_log.cost is
  'Micro-credits that a settled call cost the operator; null where its route states no cost. A job has its own in jobs.';
comment on column request_log.requests is
  'How many requests the row stands for: those refused by scope or rate are one row per key, route, code and minute.';

create index request_log_of_account on request_log (account_id, id);
create index request_log_by_request on request_log (request_id);
comment on index request_log_by_request is 'A caller or an operator looks a request up by the id in the answer.';
create index request_log_failures on request_log (account_id, id)
  where status >= 400 or error_code is not null or job_id is not null;
comment on index request_log_failures is
  'Requests that failed, and jobs, which may fail later: what is searched for most is rare among the rest.';

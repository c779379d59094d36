-- Made by "npm run schema" from the migrations. Read it; do not edit it.

create table accounts (
  id text not null,
  name text not null,
  email text,
  status text default 'active'::text not null,
  groups text[] not null,
  rpm integer,
  concurrency integer,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (id),
  CHECK (concurrency > 0),
  CHECK (cardinality(groups) > 0),
  CHECK (rpm > 0),
  CHECK (status = ANY (ARRAY['active'::text, 'suspended'::text]))
);
CREATE INDEX accounts_newest ON public.accounts USING btree (created_at DESC, id DESC);
CREATE UNIQUE INDEX accounts_email ON public.accounts USING btree (lower(email));
CREATE TRIGGER accounts_open_balance AFTER INSERT ON public.accounts FOR EACH ROW EXECUTE FUNCTION ledger_open_account();

create table api_keys (
  id text not null,
  account_id text not null,
  name text not null,
  digest bytea not null,
  prefix text not null,
  groups text[],
  rpm integer,
  concurrency integer,
  credit_limit bigint,
  credit_limit_reset text,
  expires_at timestamp with time zone,
  disabled boolean default false not null,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  CHECK (concurrency > 0),
  CHECK (credit_limit >= 0),
  CHECK (credit_limit_reset = ANY (ARRAY['day'::text, 'week'::text, 'month'::text])),
  CHECK (cardinality(groups) > 0),
  CHECK (length(prefix) = 4),
  CHECK (rpm > 0)
);
CREATE INDEX api_keys_of_account ON public.api_keys USING btree (account_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX api_keys_digest ON public.api_keys USING btree (digest);
CREATE TRIGGER api_keys_open_spending AFTER INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION ledger_open_key();

create table audit (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  actor text not null,
  action text not null,
  target text not null,
  detail json not null,
  request_id text,
  PRIMARY KEY (id)
);

create table balances (
  account_id text not null,
  granted bigint default 0 not null,
  available bigint default 0 not null,
  reserved bigint default 0 not null,
  charged bigint default 0 not null,
  lapsed bigint default 0 not null,
  debt bigint default 0 not null,
  entries bigint default 0 not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (account_id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  CHECK (granted <= '9000000000000000'::bigint),
  CHECK (granted = (available + reserved + charged + lapsed) AND LEAST(reserved, charged, lapsed, debt, available + debt) >= 0)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table config_versions (
  version bigint generated always as identity not null,
  source text not null,
  document json not null,
  sealed_secrets json not null,
  digest text not null,
  applied_at timestamp with time zone not null,
  PRIMARY KEY (version)
);

create table files (
  id text not null,
  account_id text not null,
  object_key text not null,
  filename text not null,
  purpose text,
  mime_type text not null,
  bytes bigint not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  UNIQUE (object_key),
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id)
);
CREATE INDEX files_live ON public.files USING btree (account_id, expires_at);
CREATE UNIQUE INDEX files_object_key_key ON public.files USING btree (object_key);

create table finished_sign_ins (
  digest bytea not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (digest)
);
CREATE INDEX finished_sign_ins_expired ON public.finished_sign_ins USING btree (expires_at);

create table grants (
  id text not null,
  number bigint generated always as identity not null,
  account_id text not null,
  amount bigint not null,
  remaining bigint default 0 not null,
  spendable boolean generated always as ((remaining > 0)) stored,
  source text not null,
  reference text,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  CHECK (amount <> 0 AND remaining >= 0 AND remaining <= GREATEST(amount, 0::bigint))
) with (fillfactor=50);
CREATE INDEX grants_expiring ON public.grants USING btree (expires_at) WHERE spendable;
CREATE INDEX grants_newest ON public.grants USING btree (account_id, number DESC);
CREATE INDEX grants_spending_order ON public.grants USING btree (account_id, expires_at, number) WHERE spendable;
CREATE UNIQUE INDEX grants_reference ON public.grants USING btree (reference);

create table idempotency_keys (
  account_id text not null,
  credential text not null,
  key text not null,
  fingerprint bytea not null,
  job_id text,
  claim uuid,
  delete_at timestamp with time zone not null,
  PRIMARY KEY (account_id, credential, key),
  FOREIGN KEY (job_id) REFERENCES jobs(id),
  CHECK ((job_id IS NULL) = (claim IS NOT NULL))
);
CREATE INDEX idempotency_keys_due ON public.idempotency_keys USING btree (delete_at);

create table job_assets (
  id text not null,
  job_id text not null,
  ordinal smallint not null,
  kind text not null,
  object_key text not null,
  mime_type text not null,
  bytes bigint not null,
  width integer,
  height integer,
  seconds double precision,
  created_at timestamp with time zone not null,
  UNIQUE (job_id, ordinal),
  PRIMARY KEY (id),
  FOREIGN KEY (job_id) REFERENCES jobs(id),
  CHECK (kind = ANY (ARRAY['image'::text, 'video'::text, 'audio'::text, 'thumbnail'::text])),
  CHECK (ordinal >= 0)
);
CREATE UNIQUE INDEX job_assets_job_id_ordinal_key ON public.job_assets USING btree (job_id, ordinal);

create table job_attempts (
  job_id text not null,
  number smallint not null,
  upstream_id text not null,
  upstream_model text not null,
  count smallint not null,
  state text not null,
  task json,
  outputs json,
  collected json,
  error_code text,
  detail text,
  started_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  tries smallint default 0 not null,
  PRIMARY KEY (job_id, number),
  FOREIGN KEY (job_id) REFERENCES jobs(id),
  CHECK (count > 0),
  CHECK (state = ANY (ARRAY['calling'::text, 'refused'::text, 'accepted'::text, 'ready'::text, 'collected'::text, 'failed'::text]))
) with (fillfactor=70);

create table jobs (
  id text not null,
  account_id text not null,
  key_id text,
  groups text[] not null,
  kind text not null,
  endpoint text not null,
  model text not null,
  status text not null,
  progress smallint default 0 not null,
  wanted smallint not null,
  request json not null,
  request_id text not null,
  reservation_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  accepted_at timestamp with time zone,
  finished_at timestamp with time zone,
  dispatch_deadline_at timestamp with time zone not null,
  error_code text,
  charged bigint,
  UNIQUE (reservation_id),
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  CHECK (charged >= 0),
  CHECK ((finished_at IS NOT NULL) = (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'queue_expired'::text, 'canceled'::text]))),
  CHECK ((charged IS NOT NULL) = (finished_at IS NOT NULL)),
  CHECK ((error_code IS NOT NULL) = (status = ANY (ARRAY['failed'::text, 'queue_expired'::text]))),
  CHECK (status <> 'running'::text OR accepted_at IS NOT NULL),
  CHECK (kind = ANY (ARRAY['image'::text, 'video'::text, 'audio'::text])),
  CHECK (progress >= 0 AND progress <= 100),
  CHECK (status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'queue_expired'::text, 'canceled'::text])),
  CHECK (wanted > 0)
);
CREATE INDEX jobs_all_newest ON public.jobs USING btree (created_at DESC, id DESC);
CREATE INDEX jobs_newest ON public.jobs USING btree (account_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX jobs_reservation_id_key ON public.jobs USING btree (reservation_id);

create table key_spending (
  key_id text not null,
  held bigint default 0 not null,
  spent bigint default 0 not null,
  day date not null,
  day_spent bigint default 0 not null,
  week date not null,
  week_spent bigint default 0 not null,
  month date not null,
  month_spent bigint default 0 not null,
  PRIMARY KEY (key_id),
  CHECK (LEAST(held, spent, day_spent, week_spent, month_spent) >= 0)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table ledger_checkpoints (
  kind text not null,
  id text not null,
  figures bigint[] not null,
  PRIMARY KEY (kind, id),
  CHECK (kind = ANY (ARRAY['balances'::text, 'grants'::text, 'key_spending'::text]))
);

create table ledger_checks (
  only_row boolean default true not null,
  generation bigint not null,
  PRIMARY KEY (only_row),
  CHECK (only_row)
);

create table ledger_entries (
  account_id text not null,
  number bigint not null,
  type text not null,
  granted bigint not null,
  available bigint not null,
  reserved bigint not null,
  charged bigint not null,
  lapsed bigint not null,
  balance bigint not null,
  created_at timestamp with time zone not null,
  reservation_id uuid,
  grant_ids text[] not null,
  parts bigint[] not null,
  units json,
  PRIMARY KEY (account_id, number),
  CHECK (ledger_entry_is_sound(type, granted, available, reserved, charged, lapsed, reservation_id) AND number > 0 AND cardinality(grant_ids) = cardinality(parts))
);
CREATE INDEX ledger_entries_by_time ON public.ledger_entries USING brin (created_at) WITH (autosummarize='on');
CREATE INDEX ledger_entries_usage ON public.ledger_entries USING btree (account_id, created_at) WHERE (charged > 0);
CREATE UNIQUE INDEX ledger_entries_once ON public.ledger_entries USING btree (reservation_id, (
CASE type
    WHEN 'reserve'::text THEN 'hold'::text
    WHEN 'charge'::text THEN 'excess'::text
    ELSE 'end'::text
END)) WHERE (reservation_id IS NOT NULL);
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entries_derive AFTER INSERT ON public.ledger_entries REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive();

create table ledger_journal (
  account_id text not null,
  number bigint generated always as identity not null,
  purse_id uuid not null,
  owner text not null,
  members json not null,
  PRIMARY KEY (account_id, number)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, vacuum_truncate=false);

create table memberships (
  person_id text not null,
  account_id text not null,
  role text not null,
  created_at timestamp with time zone not null,
  mapped boolean default false not null,
  PRIMARY KEY (person_id, account_id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  CHECK (role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text]))
);
CREATE INDEX memberships_of_account ON public.memberships USING btree (account_id, created_at);

create table migrations (
  number integer not null,
  name text not null,
  digest text not null,
  applied_at timestamp with time zone default now() not null,
  PRIMARY KEY (number)
);

create table models (
  id text not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (id)
);

create table oauth_clients (
  id text not null,
  name text not null,
  redirect_uris text[] not null,
  scopes text[] not null,
  secret_digest bytea,
  created_at timestamp with time zone not null,
  home_page text,
  logo text,
  device_flow boolean default false not null,
  introspection boolean default false not null,
  deleted_at timestamp with time zone,
  PRIMARY KEY (id),
  CHECK (cardinality(redirect_uris) > 0),
  CHECK (cardinality(scopes) > 0)
);

create table oauth_grants (
  id text not null,
  client_id text not null,
  account_id text not null,
  person_id text not null,
  scopes text[] not null,
  credit_limit bigint,
  credit_limit_reset text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  FOREIGN KEY (client_id) REFERENCES oauth_clients(id),
  FOREIGN KEY (person_id) REFERENCES people(id),
  CHECK (credit_limit >= 0),
  CHECK (credit_limit_reset = ANY (ARRAY['day'::text, 'week'::text, 'month'::text])),
  CHECK (cardinality(scopes) > 0)
);
CREATE INDEX oauth_grants_of_account ON public.oauth_grants USING btree (account_id, created_at DESC, id DESC);
CREATE INDEX oauth_grants_of_person ON public.oauth_grants USING btree (person_id);
CREATE UNIQUE INDEX oauth_grants_live ON public.oauth_grants USING btree (client_id, account_id, person_id) WHERE (revoked_at IS NULL);
CREATE TRIGGER oauth_grants_open_spending AFTER INSERT ON public.oauth_grants FOR EACH ROW EXECUTE FUNCTION ledger_open_key();

create table oauth_records (
  kind text not null,
  digest bytea not null,
  payload json not null,
  grant_id text,
  uid_digest bytea,
  user_code_digest bytea,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  consumed_at timestamp with time zone,
  PRIMARY KEY (kind, digest),
  FOREIGN KEY (grant_id) REFERENCES oauth_grants(id)
);
CREATE INDEX oauth_records_expired ON public.oauth_records USING btree (expires_at);
CREATE INDEX oauth_records_of_grant ON public.oauth_records USING btree (grant_id) WHERE (grant_id IS NOT NULL);
CREATE UNIQUE INDEX oauth_records_uid ON public.oauth_records USING btree (kind, uid_digest) WHERE (uid_digest IS NOT NULL);
CREATE UNIQUE INDEX oauth_records_user_code ON public.oauth_records USING btree (kind, user_code_digest) WHERE (user_code_digest IS NOT NULL);

create table one_time_links (
  id text not null,
  digest bytea not null,
  purpose text not null,
  person_id text,
  email text not null,
  account_id text,
  role text,
  operator_role text,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  CHECK ((purpose = ANY (ARRAY['invitation'::text, 'sign_up'::text])) = (person_id IS NULL)),
  CHECK ((account_id IS NULL) = (role IS NULL)),
  CHECK (operator_role = ANY (ARRAY['operator'::text, 'auditor'::text])),
  CHECK (purpose = ANY (ARRAY['sign_in'::text, 'set_password'::text, 'invitation'::text, 'sign_up'::text])),
  CHECK (role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text]))
);
CREATE INDEX one_time_links_expired ON public.one_time_links USING btree (expires_at);
CREATE INDEX one_time_links_of_account ON public.one_time_links USING btree (account_id, created_at DESC, id DESC);
CREATE INDEX one_time_links_of_email ON public.one_time_links USING btree (lower(email), created_at DESC);
CREATE UNIQUE INDEX one_time_links_digest ON public.one_time_links USING btree (digest);

create table open_jobs (
  job_id text not null,
  account_id text not null,
  due_at timestamp with time zone not null,
  place timestamp with time zone not null,
  fence integer default 0 not null,
  PRIMARY KEY (job_id),
  FOREIGN KEY (job_id) REFERENCES jobs(id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
CREATE INDEX open_jobs_account ON public.open_jobs USING btree (account_id);
CREATE INDEX open_jobs_due ON public.open_jobs USING btree (due_at);

create table open_reservations (
  reservation_id uuid not null,
  known bigint default 0 not null,
  owner text,
  lease_until timestamp with time zone,
  PRIMARY KEY (reservation_id),
  CHECK ((owner IS NULL) = (lease_until IS NULL)),
  CHECK (known >= 0)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table people (
  id text not null,
  email text not null,
  name text not null,
  verifier text,
  operator_role text,
  issuer text,
  subject text,
  disabled boolean default false not null,
  created_at timestamp with time zone not null,
  last_sign_in_at timestamp with time zone,
  operator_role_mapped boolean default false not null,
  own_account_id text,
  PRIMARY KEY (id),
  FOREIGN KEY (own_account_id) REFERENCES accounts(id),
  CHECK ((issuer IS NULL) = (subject IS NULL)),
  CHECK (operator_role = ANY (ARRAY['operator'::text, 'auditor'::text]))
);
CREATE INDEX people_newest ON public.people USING btree (created_at DESC, id DESC);
CREATE UNIQUE INDEX people_email ON public.people USING btree (lower(email));
CREATE UNIQUE INDEX people_subject ON public.people USING btree (issuer, subject);

create table processes (
  id text not null,
  started_at timestamp with time zone not null,
  last_seen timestamp with time zone not null,
  PRIMARY KEY (id)
);

create table public_list (
  only_row boolean default true not null,
  digest text not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (only_row),
  CHECK (only_row)
);

create table purses (
  id uuid not null,
  account_id text not null,
  process_id text not null,
  amount bigint not null,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
CREATE INDEX purses_account ON public.purses USING btree (account_id);

create table reservation_owners (
  process_id text not null,
  lease_until timestamp with time zone not null,
  PRIMARY KEY (process_id)
);

create table reservations (
  id uuid not null,
  amount bigint not null,
  created_at timestamp with time zone not null,
  account_id text not null,
  key_id text,
  grant_ids text[] not null,
  parts bigint[] not null,
  request_id text not null,
  job_id text,
  model text not null,
  endpoint text not null,
  price json not null,
  PRIMARY KEY (id),
  CHECK (amount >= 0)
);
CREATE INDEX reservations_by_request ON public.reservations USING btree (request_id, account_id);
CREATE INDEX reservations_by_time ON public.reservations USING brin (created_at) WITH (autosummarize='on');

create table sessions (
  id text not null,
  digest bytea not null,
  person_id text not null,
  account_id text,
  method text not null,
  address text not null,
  user_agent text not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  CHECK (method = ANY (ARRAY['password'::text, 'link'::text, 'identity_provider'::text]))
);
CREATE INDEX sessions_expired ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_of_person ON public.sessions USING btree (person_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX sessions_digest ON public.sessions USING btree (digest);

create table stored_objects (
  key text not null,
  account_id text not null,
  mime_type text not null,
  bytes bigint not null,
  delete_at timestamp with time zone not null,
  PRIMARY KEY (key)
);
CREATE INDEX stored_objects_due ON public.stored_objects USING btree (delete_at);

create table test_clock (
  only_row boolean default true not null,
  offset_ms bigint not null,
  PRIMARY KEY (only_row),
  CHECK (offset_ms >= 0),
  CHECK (only_row)
);

create table transcriptions (
  id text not null,
  account_id text not null,
  key_id text,
  model text not null,
  request json not null,
  object_key text,
  seconds double precision not null,
  status text not null,
  settlement_state text not null,
  reservation_id uuid not null,
  upstream_id text,
  upstream_model text,
  task json,
  owner text,
  lease_until timestamp with time zone not null,
  fence integer default 0 not null,
  result json,
  charged bigint,
  error_code text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  expires_at timestamp with time zone,
  UNIQUE (reservation_id),
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  CHECK (charged >= 0),
  CHECK ((completed_at IS NOT NULL) = (status <> ALL (ARRAY['pending'::text, 'processing'::text]))),
  CHECK ((charged IS NOT NULL) = (completed_at IS NOT NULL)),
  CHECK ((settlement_state = ANY (ARRAY['settled'::text, 'released'::text])) = (completed_at IS NOT NULL)),
  CHECK ((settlement_state = 'settled'::text) = (status = ANY (ARRAY['completed'::text, 'expired'::text]))),
  CHECK ((result IS NOT NULL) = (status = 'completed'::text)),
  CHECK ((error_code IS NOT NULL) = (status = ANY (ARRAY['failed'::text, 'unavailable'::text]))),
  CHECK (seconds > 0::double precision),
  CHECK (settlement_state = ANY (ARRAY['pending'::text, 'unknown'::text, 'settled'::text, 'released'::text])),
  CHECK (status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'unavailable'::text, 'expired'::text]))
);
CREATE INDEX transcriptions_expiring ON public.transcriptions USING btree (expires_at) WHERE (status = 'completed'::text);
CREATE INDEX transcriptions_newest ON public.transcriptions USING btree (account_id, created_at DESC, id DESC);
CREATE INDEX transcriptions_open ON public.transcriptions USING btree (lease_until) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE UNIQUE INDEX transcriptions_reservation_id_key ON public.transcriptions USING btree (reservation_id);

create table upstream_breakers (
  upstream_id text not null,
  upstream_model text not null,
  strikes integer not null,
  trips integer not null,
  opened_at timestamp with time zone,
  open_until timestamp with time zone,
  is_told boolean not null,
  last_fault text,
  last_detail text,
  last_fault_at timestamp with time zone,
  PRIMARY KEY (upstream_id, upstream_model),
  CHECK (strikes >= 0),
  CHECK (trips >= 0)
);

create table write_probe (
  filler text not null
);

CREATE OR REPLACE FUNCTION public.ledger_apply(account_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return; end if;

  with taken as (
    delete from ledger_journal where account_id = any (account_ids)
    returning account_id, number, purse_id, owner, members
  ),
  said as materialized (
    select taken.account_id, purse_id, owner, row_number() over (order by number, line) as place, id, held,
      to_timestamp(held_ms::float8 / 1000) as held_at, to_timestamp(lease_ms::float8 / 1000) as lease_until, key_id,
      request_id, model, endpoint, price, to_timestamp(ended_ms::float8 / 1000) as ended_at, actual, units
    from taken cross join lateral rows from (json_to_recordset(members) as (
      id uuid, held bigint, held_ms bigint, lease_ms bigint, key_id text, request_id text, model text, endpoint text,
      price json, ended_ms bigint, actual bigint, units json)) with ordinality as told (
      id, held, held_ms, lease_ms, key_id, request_id, model, endpoint, price, ended_ms, actual, units, line)
  ),
  -- The credits that are held, laid out one after the other, beside those that the grants have in the order of spending:
  -- where the two overlap, the one is taken from the other.
  asked as (
    select *, (sum(held) over earlier - held)::bigint as after, (sum(held) over earlier)::bigint as upto
    from said where held is not null and (select reservations.id from reservations where reservations.id = said.id) is null
    window earlier as (partition by account_id order by place)
  ),
  spending as materialized (
    select account_id, id as grant_id, row_number() over sooner as turn,
      (sum(remaining) over sooner - remaining)::bigint as after, (sum(remaining) over sooner)::bigint as upto
    from grants where account_id = any (account_ids) and spendable
    window sooner as (partition by account_id order by expires_at, number)
  ),
  holds as materialized (
    select asked.*, coalesce(split.amount, 0) as amount, coalesce(split.grant_ids, '{}') as grant_ids,
      coalesce(split.parts, '{}') as parts
    from asked cross join lateral (
      select sum(part)::bigint as amount, array_agg(grant_id order by turn) as grant_ids,
        array_agg(part order by turn) as parts
      from (
        select grant_id, turn, least(spending.upto, asked.upto) - greatest(spending.after, asked.after) as part
        from spending where spending.account_id = asked.account_id
      ) as overlap
      where part > 0
    ) as split
  ),
  ends as materialized (
    select distinct on (id) *, least(coalesce(actual, 0), amount) as covered, coalesce(actual, 0) > amount as exceeds
    from (
      select account_id, place, id, ended_at, actual, units, amount, grant_ids, parts
      from holds where ended_at is not null
      union all
      select said.account_id, said.place, said.id, said.ended_at, said.actual, said.units,
        coalesce(holds.amount, earlier.amount), coalesce(holds.grant_ids, earlier.grant_ids),
        coalesce(holds.parts, earlier.parts)
      from said
      left join holds on holds.id = said.id
      left join open_reservations on reservation_id = said.id
      left join reservations earlier on earlier.id = reservation_id
      where said.held is null and (holds.id is not null or earlier.id is not null)
    ) as ending
    order by id, place
  ),
  events as (
    select account_id, place, 1 as step, 'reserve' as type, held_at as at, id, -amount as available, amount as reserved,
      0 as charged, grant_ids, case cardinality(parts) when 1 then array[-parts[1]]
        else array(select -part from unnest(parts) as part) end as parts, null::json as units
    from holds
    union all
    select account_id, place, 2, case when actual is null then 'refund' else 'settle' end, ended_at, id,
      amount - covered, -amount, covered, grant_ids, case cardinality(parts) when 1 then array[parts[1] - covered]
        else ledger_returned(parts, covered) end, units
    from ends
    union all
    select account_id, place, 3, 'charge', ended_at, id, amount - actual, 0, actual - amount, '{}', '{}', null
    from ends where exceeds
  ),
  entered as (
    insert into ledger_entries
      (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
      grant_ids, parts, units)
    select events.account_id, b.entries + row_number() over so_far, type, 0, events.available, events.reserved,
      events.charged, 0, b.available + sum(events.available) over so_far,
      greatest(b.updated_at, max(at) over so_far), events.id, grant_ids, parts, units
    from events join balances b on b.account_id = events.account_id
    window so_far as (partition by events.account_id order by place, step)
  ),
  held as (
    insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint,
      price)
    select id, amount, held_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint, price from holds
  ),
  opened as (
    insert into open_reservations (reservation_id, owner, lease_until)
    select id, owner, lease_until from holds where id not in (select id from ends)
  ),
  closed as (
    delete from open_reservations where reservation_id = any (array(select id from ends))
  )
  update purses set amount = purses.amount - taken_out.amount
  from (select purse_id, sum(held)::bigint as amount from holds group by purse_id) as taken_out
  where purses.id = taken_out.purse_id;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_catch_up(account_ids text[], patience text)
 RETURNS integer
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  busy text[];
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return 0; end if;
  busy := ledger_lock(account_ids, patience);
  if busy <> '{}' then account_ids := array(select unnest(account_ids) except select unnest(busy)); end if;
  perform ledger_apply(account_ids);
  -- At the account's own time.
  perform ledger_tidy('-infinity', account_ids);
  return cardinality(account_ids);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_catch_up_some(accounts_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
begin
  return ledger_catch_up(array(select distinct account_id from ledger_journal limit accounts_max), 'skip');
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_correct_grant(moment timestamp with time zone, grant_id text, new_source text, new_reference text, sets_expiry boolean, new_expires_at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  owner_id text := (select account_id from grants where id = grant_id);
begin
  if owner_id is null then return 'unknown'; end if;
  perform ledger_lock(array[owner_id], 'wait');
  -- What was held before comes out of the grants as they were before.
  delete from purses where account_id = owner_id and sets_expiry;
  perform ledger_apply(array[owner_id]);
  perform ledger_tidy(moment, array[owner_id]);
  if sets_expiry and exists (select from grants g join balances b using (account_id)
    where g.id = grant_id and (g.amount < 0 or g.expires_at <= greatest(moment, b.updated_at))) then
    return 'over';
  end if;
  if exists (select from grants where reference = new_reference and id <> grant_id) then return 'duplicate'; end if;
  update grants set source = coalesce(new_source, source), reference = coalesce(new_reference, reference),
    expires_at = case when sets_expiry then new_expires_at else expires_at end
  where id = grant_id;
  return 'changed';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_cover(moment timestamp with time zone, account_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from balances where account_id = any (account_ids) and debt > 0) then return; end if;

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + 1, 'cover', 0, 0, 0, 0, 0, available, at,
    array_agg(grant_id order by place), array_agg(-least(remaining, debt - before) order by place)
  from (
    select account_id, b.entries, b.available, b.debt, greatest(moment, b.updated_at) as at, g.id as grant_id, g.remaining,
      row_number() over spending as place,
      -- What the grants before this one can pay.
      sum(g.remaining) over spending - g.remaining as before
    from balances b join grants g using (account_id)
    where account_id = any (account_ids) and b.debt > 0 and g.spendable
    window spending as (partition by account_id order by g.expires_at, g.number)
  ) as payer
  where before < debt
  group by account_id, entries, available, at;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_derive()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from posted) then return null; end if;

  update grants set remaining = remaining + moved.part
  from (
    select grant_id, sum(part)::bigint as part
    from (
      select grant_ids[1] as grant_id, parts[1] as part from posted where cardinality(grant_ids) = 1
      union all
      select split.grant_id, split.part
      from posted cross join unnest(posted.grant_ids, posted.parts) as split (grant_id, part)
      where cardinality(posted.grant_ids) > 1
    ) as split
    group by grant_id
  ) as moved
  where grants.id = moved.grant_id;

  update balances set
    granted = balances.granted + moved.granted,
    available = balances.available + moved.available,
    reserved = balances.reserved + moved.reserved,
    charged = balances.charged + moved.charged,
    lapsed = balances.lapsed + moved.lapsed,
    debt = balances.debt + moved.debt,
    entries = balances.entries + moved.entries,
    updated_at = moved.at
  from (
    select account_id, sum(granted)::bigint as granted, sum(available)::bigint as available,
      sum(reserved)::bigint as reserved, sum(charged)::bigint as charged, sum(lapsed)::bigint as lapsed,
      sum(case type
        when 'charge' then charged
        when 'cover' then (select sum(part) from unnest(parts) as part)
        else 0 end)::bigint as debt,
      count(*) as entries, max(created_at) as at
    from posted group by account_id
  ) as moved
  where balances.account_id = moved.account_id;

  update key_spending set
    held = held + moved.reserved,
    spent = spent + moved.charged,
    day = moved.day,
    day_spent = case when key_spending.day = moved.day then day_spent else 0 end + moved.charged,
    week = moved.week,
    week_spent = case when key_spending.week = moved.week then week_spent else 0 end + moved.charged,
    month = moved.month,
    month_spent = case when key_spending.month = moved.month then month_spent else 0 end + moved.charged
  from (
    select reservations.key_id, sum(changed.reserved)::bigint as reserved, sum(changed.charged)::bigint as charged,
      period_start('day', max(changed.at)) as day, period_start('week', max(changed.at)) as week,
      period_start('month', max(changed.at)) as month
    from (
      select reservation_id, sum(reserved)::bigint as reserved, sum(charged)::bigint as charged, max(created_at) as at
      from posted where reservation_id is not null group by reservation_id
    ) as changed
    join reservations on reservations.id = changed.reservation_id
    group by reservations.key_id
  ) as moved
  where key_spending.key_id = moved.key_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_end(moment timestamp with time zone, locked text[], busy text[], ids uuid[], account_ids text[], actuals bigint[], measured json[])
 RETURNS json
 LANGUAGE plpgsql
AS $function$
declare
  asked record;
  answers json[];
  current_account text := '';
  balance bigint;
  number bigint;
  covered bigint;
  excess bigint;
  entries ledger_entries[];
  closed uuid[] := '{}';
begin
  -- The order of accounts is for the running figures; within an account first come, first served.
  for asked in
    select m.member, m.account_id as told_account_id, m.actual, m.units, r.id, r.account_id, r.amount, r.grant_ids, r.parts,
      o.reservation_id is not null as is_open, b.available, b.entries, greatest(moment, b.updated_at) as at
    from unnest(ids, account_ids, actuals, measured) with ordinality as m (asked_id, account_id, actual, units, member)
    left join reservations r on r.id = m.asked_id
    left join open_reservations o on o.reservation_id = m.asked_id
    left join balances b on b.account_id = r.account_id
    order by r.account_id, m.member
  loop
    if asked.id is null then
      -- The journal of an account that somebody else has may know it.
      answers[asked.member] := case when asked.told_account_id = any (busy) then '"busy"' else '"unknown"' end;
    elsif not asked.is_open then
      answers[asked.member] := (
        select json_build_array(case when bool_or(type = 'settle') then 'settled' else 'refunded' end, sum(charged))
        from ledger_entries where reservation_id = asked.id);
    elsif asked.account_id = any (busy) then
      answers[asked.member] := '"busy"';
    elsif asked.account_id <> all (locked) then
      answers[asked.member] := '"unknown"';
    else
      if asked.account_id <> current_account then
        current_account := asked.account_id;
        balance := asked.available;
        number := asked.entries;
      end if;
      covered := least(coalesce(asked.actual, 0), asked.amount);
      excess := greatest(coalesce(asked.actual, 0) - asked.amount, 0);
      number := number + 1;
      balance := balance + asked.amount - covered;
      entries := entries || row(asked.account_id, number, case when asked.actual is null then 'refund' else 'settle' end,
        0, asked.amount - covered, -asked.amount, covered, 0, balance, asked.at, asked.id, asked.grant_ids,
        ledger_returned(asked.parts, covered), asked.units)::ledger_entries;
      if excess > 0 then
        number := number + 1;
        balance := balance - excess;
        entries := entries || row(asked.account_id, number, 'charge', 0, -excess, 0, excess, 0, balance, asked.at,
          asked.id, '{}', '{}', null)::ledger_entries;
      end if;
      closed := closed || asked.id;
      answers[asked.member] := case when asked.actual is null then json_build_array('refunded', 0)
        else json_build_array('settled', asked.actual) end;
    end if;
  end loop;
  if entries is not null then
    insert into ledger_entries select entry.* from unnest(entries) as entry;
    delete from open_reservations where reservation_id = any (closed);
  end if;
  return array_to_json(answers);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_entry_is_sound(type text, granted bigint, available bigint, reserved bigint, charged bigint, lapsed bigint, reservation_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return granted = available + reserved + charged + lapsed
    and (reservation_id is not null) = (type in ('reserve', 'settle', 'refund', 'charge'))
    and case type
      when 'grant'   then granted > 0 and available = granted and reserved = 0 and charged = 0
      when 'revoke'  then granted < 0 and available = granted and reserved = 0 and charged = 0
      when 'reserve' then granted = 0 and reserved >= 0 and available = -reserved and charged = 0
      when 'settle'  then granted = 0 and available >= 0 and charged >= 0 and reserved = -(available + charged)
      when 'refund'  then granted = 0 and available >= 0 and charged = 0 and reserved = -available
      when 'charge'  then granted = 0 and charged > 0 and available = -charged and reserved = 0
      when 'cover'   then granted = 0 and available = 0 and charged = 0 and reserved = 0
      when 'lapse'   then granted = 0 and lapsed > 0 and charged = 0 and reserved = 0
      else false end;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_fill_purse(purse_id uuid, is_new boolean, new_account_id text, new_process_id text, wanted bigint, enough bigint, until timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  given bigint;
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- A purse does not know which credits expire, or when.
  if exists (select from grants where account_id = new_account_id and spendable and expires_at <= until) then
    return 0;
  end if;
  select least(wanted, (available - (select coalesce(sum(amount), 0) from purses where account_id = new_account_id)) / 4)
    into given from balances where account_id = new_account_id;
  if given is null or given < enough then return 0; end if;
  if is_new then
    insert into purses (id, account_id, process_id, amount) values (purse_id, new_account_id, new_process_id, given);
  else
    update purses set amount = amount + given where id = purse_id;
    if not found then return null; end if;
  end if;
  return given;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_grant(moment timestamp with time zone, new_id text, new_account_id text, new_amount bigint, new_source text, new_reference text, new_expires_at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- What was held before comes out of what was there before.
  perform ledger_apply(array[new_account_id]);
  if not exists (select from balances where account_id = new_account_id) then return 'unknown'; end if;

  insert into grants (id, account_id, amount, source, reference, expires_at, created_at)
    values (new_id, new_account_id, new_amount, new_source, new_reference, new_expires_at, moment)
    on conflict (reference) do nothing;
  if not found then return 'duplicate'; end if;

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + 1, 'grant', new_amount, new_amount, 0, 0, 0, available + new_amount,
    greatest(moment, updated_at), array[new_id], array[new_amount]
  from balances where account_id = new_account_id;

  -- A purse does not know which credits expire, or when.
  if new_expires_at is not null then delete from purses where account_id = new_account_id; end if;
  perform ledger_lapse(moment, array[new_account_id]);
  perform ledger_cover(moment, array[new_account_id]);
  return 'granted';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_lapse(moment timestamp with time zone, account_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  expiring text[] := array(
    select distinct account_id from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at));
begin
  if expiring = '{}' then return; end if;
  -- What was held of them before this moment stays held.
  delete from purses where account_id = any (expiring);
  perform ledger_apply(expiring);

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + row_number() over expiry, 'lapse', 0, -remaining, 0, 0, remaining,
    available - sum(remaining) over expiry, at, array[grant_id], array[-remaining]
  from (
    select account_id, b.entries, b.available, g.id as grant_id, g.number, g.remaining, g.expires_at,
      greatest(moment, b.updated_at) as at
    from balances b join grants g using (account_id)
    where account_id = any (expiring) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)
  ) as expired
  window expiry as (partition by account_id order by expires_at, number);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_lapse_some(moment timestamp with time zone, accounts_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  accounts text[] := array(
    select distinct account_id from grants where spendable and expires_at <= moment limit accounts_max);
  busy text[] := ledger_lock(accounts, 'skip');
begin
  perform ledger_lapse(moment, array(select unnest(accounts) except select unnest(busy)));
  return cardinality(accounts) - cardinality(busy);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_lock(account_ids text[], patience text)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  locked text[];
begin
  if patience = 'skip' then
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update skip locked);
  else
    if patience = 'brief' then perform set_config('lock_timeout', '50ms', true); end if;
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update);
  end if;
  if cardinality(locked) = cardinality(account_ids) then return '{}'; end if;
  return array(select account_id from balances
    where account_id = any (account_ids) and account_id <> all (locked));
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_open_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into balances (account_id, updated_at) values (new.id, new.created_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_open_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into key_spending (key_id, day, week, month) values (new.id, period_start('day', new.created_at),
    period_start('week', new.created_at), period_start('month', new.created_at));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_recall(locked text[], account_ids text[], amounts bigint[], end_ids uuid[], actuals bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from purses where account_id = any (locked)) then return; end if;

  delete from purses where account_id = any (locked) and account_id in (
    select account_id
    from (
      select account_id, sum(amount) as amount
      from (
        select account_id, amount from unnest(account_ids, amounts) as m (account_id, amount)
        union all
        select r.account_id, m.actual - r.amount from unnest(end_ids, actuals) as m (id, actual) join reservations r on r.id = m.id
        where m.actual > r.amount
      ) as need
      group by account_id
    ) as needed
    join balances b using (account_id)
    where b.available - (select coalesce(sum(p.amount), 0) from purses p where p.account_id = needed.account_id)
      < needed.amount);
  if found then perform ledger_apply(locked); end if;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'ledger entries are never changed or removed';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_reserve(moment timestamp with time zone, busy text[], ids uuid[], account_ids text[], key_ids text[], amounts bigint[], request_ids text[], job_ids text[], models text[], endpoints text[], prices json[], late boolean[], owner text, lease_until timestamp with time zone)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
declare
  asked record;
  answers json[];
  verdict text;
  amount bigint;
  current_account text := '';
  -- What the current account has left, and its grants in spending order, as earlier members leave them.
  balance bigint;
  number bigint;
  open_ids text[];
  open_parts bigint[];
  place integer;
  -- The keys and apps with a limit met so far, and what each may still spend.
  limited_keys text[] := '{}';
  allowances bigint[] := '{}';
  key_place integer;
  to_take bigint;
  part bigint;
  split_ids text[];
  taken bigint[];
  given bigint[];
  held reservations[];
  entries ledger_entries[];
begin
  for asked in
    select m.*, b.account_id is null as unknown, b.available, b.entries, greatest(moment, b.updated_at) as at,
      coalesce(api_keys.id, oauth_grants.id) is null as unknown_key,
      bound.amount - key_spending.held - case when bound.amount is null then 0 else
        spent_in_period(key_spending, bound.reset, greatest(moment, b.updated_at)) end as allowance,
      earlier.id is not null as repeated, earlier.account_id = m.account_id and (m.late or earlier.amount = m.amount) as same,
      earlier.grant_ids, earlier.parts
    from unnest(ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints, prices, late) with ordinality
      as m (id, account_id, key_id, amount, request_id, job_id, model, endpoint, price, late, member)
    left join balances b on b.account_id = m.account_id
    left join reservations earlier on earlier.id = m.id
    left join api_keys on api_keys.id = m.key_id and api_keys.account_id = m.account_id
    left join oauth_grants on oauth_grants.id = m.key_id and oauth_grants.account_id = m.account_id
    left join key_spending on key_spending.key_id = coalesce(api_keys.id, oauth_grants.id)
    cross join lateral (select coalesce(api_keys.credit_limit, oauth_grants.credit_limit),
      coalesce(api_keys.credit_limit_reset, oauth_grants.credit_limit_reset)) as bound (amount, reset)
    order by m.member
  loop
    if asked.account_id <> current_account then
      if asked.account_id < current_account collate "C" then
        raise exception 'members must come in the order of their accounts';
      end if;
      current_account := asked.account_id;
      balance := asked.available;
      number := asked.entries;
      place := 1;
      select array_agg(id), array_agg(remaining) into open_ids, open_parts
      from (select id, remaining from grants where account_id = current_account and spendable
        order by expires_at, grants.number) as spending_order;
    end if;
    amount := case when asked.late then least(asked.amount, greatest(balance, 0)) else asked.amount end;
    key_place := null;
    if asked.allowance is not null then
      key_place := array_position(limited_keys, asked.key_id);
      if key_place is null then
        limited_keys := limited_keys || asked.key_id;
        allowances := allowances || asked.allowance::bigint;
        key_place := cardinality(limited_keys);
      end if;
    end if;

    verdict := case
      when asked.unknown or (asked.key_id is not null and asked.unknown_key) then 'unknown'
      when asked.account_id = any (busy) then 'busy'
      when asked.repeated then case when asked.same then 'repeated' else 'conflict' end
      when balance < amount and not asked.late then 'balance'
      when allowances[key_place] < amount and not asked.late then 'key_limit'
      else 'admitted' end;

    if verdict = 'repeated' then
      answers[asked.member] := json_build_array(asked.grant_ids, asked.parts);
    elsif verdict in ('balance', 'key_limit') then
      answers[asked.member] := json_build_object('reason', verdict, 'left',
        case when verdict = 'balance' then balance else allowances[key_place] end);
    elsif verdict <> 'admitted' then
      answers[asked.member] := to_json(verdict);
    else
      number := number + 1;
      balance := balance - amount;
      if key_place is not null then allowances[key_place] := allowances[key_place] - amount; end if;
      to_take := amount;
      split_ids := '{}';
      taken := '{}';
      given := '{}';
      while to_take > 0 loop
        part := least(coalesce(open_parts[place], 0), to_take);
        if part > 0 then
          split_ids := split_ids || open_ids[place];
          taken := taken || part;
          given := given || -part;
          open_parts[place] := open_parts[place] - part;
          to_take := to_take - part;
        elsif place > cardinality(open_parts) then
          raise exception 'the grants of % do not hold its balance', current_account;
        else
          place := place + 1;
        end if;
      end loop;
      held := held || row(asked.id, amount, asked.at, asked.account_id, asked.key_id, split_ids, taken,
        asked.request_id, asked.job_id, asked.model, asked.endpoint, asked.price)::reservations;
      entries := entries || row(asked.account_id, number, 'reserve', 0, -amount, amount, 0, 0, balance,
        asked.at, asked.id, split_ids, given, null)::ledger_entries;
      answers[asked.member] := json_build_array(split_ids, taken);
    end if;
  end loop;
  if held is not null then
    insert into reservations select hold.* from unnest(held) as hold;
    insert into open_reservations (reservation_id, owner, lease_until)
      select hold.id, ledger_reserve.owner, ledger_reserve.lease_until from unnest(held) as hold;
    insert into ledger_entries select entry.* from unnest(entries) as entry;
  end if;
  return array_to_json(answers);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_returned(parts bigint[], charged bigint)
 RETURNS bigint[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  to_charge bigint := charged;
  kept bigint;
begin
  for place in 1 .. cardinality(parts) loop
    kept := least(parts[place], to_charge);
    to_charge := to_charge - kept;
    parts[place] := parts[place] - kept;
  end loop;
  return parts;
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_revoke(moment timestamp with time zone, new_id text, new_account_id text, taken bigint, new_source text, new_reference text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  if not exists (select from balances where account_id = new_account_id) then return 'unknown'; end if;

  -- Before the balance is looked at: a repeat is told that it is one, and not that the credits are gone.
  insert into grants (id, account_id, amount, source, reference, created_at)
    values (new_id, new_account_id, -taken, new_source, new_reference, moment)
    on conflict (reference) do nothing;
  if not found then return 'duplicate'; end if;

  -- Purses first: once they are gone, no line can be written that is not applied here.
  delete from purses where account_id = new_account_id;
  perform ledger_apply(array[new_account_id]);
  perform ledger_tidy(moment, array[new_account_id]);
  if (select available from balances where account_id = new_account_id) < taken then return 'short'; end if;

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + 1, 'revoke', -taken, -taken, 0, 0, 0, available - taken, greatest(moment, updated_at),
    new_id || split.grant_ids, 0::bigint || split.parts
  from balances cross join (
    select array_agg(grant_id order by place) as grant_ids,
      array_agg(-least(remaining, taken - before) order by place) as parts
    from (
      select id as grant_id, remaining, row_number() over spending as place,
        (sum(remaining) over spending - remaining)::bigint as before
      from grants where account_id = new_account_id and spendable
      window spending as (order by expires_at, number)
    ) as payer
    where before < taken
  ) as split
  where account_id = new_account_id;
  return 'revoked';
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_run(moment timestamp with time zone, patience text, end_ids uuid[], end_accounts text[], actuals bigint[], measured json[], ids uuid[], account_ids text[], key_ids text[], amounts bigint[], request_ids text[], job_ids text[], models text[], endpoints text[], prices json[], late boolean[], owner text, lease_until timestamp with time zone)
 RETURNS json
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  accounts text[] := array(
    select unnest(account_ids) union select account_id from reservations where id = any (end_ids)
    union select unnest(end_accounts) except select null);
  busy text[] := ledger_lock(accounts, patience);
  ours text[] := accounts;
  ended json;
  reserved json;
begin
  if busy <> '{}' then ours := array(select unnest(accounts) except select unnest(busy)); end if;
  if cardinality(ids) > 1 and cardinality(ids) > (select count(distinct id) from unnest(ids) as id) then
    raise unique_violation using message = 'one id twice in one batch';
  end if;
  perform ledger_apply(ours);
  -- An account that is only named has nothing of what is ended.
  if end_ids <> '{}' then
    ours := array(select unnest(ours) intersect (
      select unnest(account_ids) union select account_id from reservations where id = any (end_ids)));
  end if;
  perform ledger_recall(ours, account_ids, amounts, end_ids, actuals);
  if end_ids <> '{}' then ended := ledger_end(moment, ours, busy, end_ids, end_accounts, actuals, measured); end if;
  perform ledger_tidy(moment, ours);
  if ids <> '{}' then
    reserved := ledger_reserve(moment, busy, ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints,
      prices, late, owner, lease_until);
  end if;
  return json_build_array(ended, reserved);
end $function$;

CREATE OR REPLACE FUNCTION public.ledger_tidy(moment timestamp with time zone, account_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)) then
    perform ledger_lapse(moment, account_ids);
  end if;
  if exists (select from balances where account_id = any (account_ids) and debt > 0) then
    perform ledger_cover(moment, account_ids);
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.period_start(period text, at timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE
RETURN (date_trunc(period, (at AT TIME ZONE 'UTC'::text)))::date;

CREATE OR REPLACE FUNCTION public.spent_in_period(key key_spending, period text, at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return case period
    when 'day' then case when key.day = period_start('day', at) then key.day_spent else 0 end
    when 'week' then case when key.week = period_start('week', at) then key.week_spent else 0 end
    when 'month' then case when key.month = period_start('month', at) then key.month_spent else 0 end
    else key.spent end;
end $function$;

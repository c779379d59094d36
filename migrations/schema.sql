-- Made by "npm run schema" from the migrations. Read it; do not edit it.

-- Who pays: the owner of keys, grants of credits, jobs and files.
create table accounts (
  id text not null,
  name text not null,
  -- For operators to find the account by; people sign in with their own.
  email text,
  status text default 'active'::text not null,
  -- Routing groups: which upstreams serve the account.
  groups text[] not null,
  -- Requests per minute of app tokens and of the console; null takes the deployment's default.
  rpm integer,
  -- Concurrent requests of app tokens and of the console; null takes the deployment's default.
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
-- Every account has a balance.
CREATE TRIGGER accounts_open_balance AFTER INSERT ON public.accounts FOR EACH ROW EXECUTE FUNCTION ledger_open_account();

-- API keys of accounts, as digests.
create table api_keys (
  id text not null,
  account_id text not null,
  name text not null,
  -- SHA-256 of the whole key, by which a request's key is found.
  digest bytea not null,
  -- First four characters of the random part, to recognise the key by.
  prefix text not null,
  -- Routing groups; null takes the account's.
  groups text[],
  -- Requests per minute; null takes the deployment's default.
  rpm integer,
  -- Concurrent requests; null takes the deployment's default.
  concurrency integer,
  -- Micro-credits that may be spent in all or per period; null is no limit.
  credit_limit bigint,
  -- Period of the limit by the UTC calendar; null counts from the beginning.
  credit_limit_reset text,
  -- Null never expires.
  expires_at timestamp with time zone,
  disabled boolean default false not null,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone not null,
  -- The first of the keys that replaced each other by rolling, whose spending counts together; null for a key never
  -- rolled.
  lineage text,
  -- A deleted key keeps its row, so that earlier usage can name it.
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
CREATE INDEX api_keys_of_lineage ON public.api_keys USING btree (lineage) WHERE (lineage IS NOT NULL);
CREATE UNIQUE INDEX api_keys_digest ON public.api_keys USING btree (digest);
-- Every API key has a row of spending.
CREATE TRIGGER api_keys_open_spending AFTER INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION ledger_open_key();

-- Record of every change, inserted in the transaction of the change.
create table audit (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  -- Operator, person or part of the program that made the change.
  actor text not null,
  action text not null,
  -- Id or name of what was changed.
  target text not null,
  -- What is worth keeping of the change; never a secret. Never searched.
  detail json not null,
  -- Null for a change that was made without a request.
  request_id text,
  PRIMARY KEY (id)
);

-- Sums of an account's entries, one row per account. The row is also the account's lock: every change of its money
-- holds the row lock until commit.
create table balances (
  account_id text not null,
  -- Bounded below 2^53, so that every sum of an account is exact as a JSON number.
  granted bigint default 0 not null,
  -- Remainders of the grants, less the debt.
  available bigint default 0 not null,
  reserved bigint default 0 not null,
  charged bigint default 0 not null,
  lapsed bigint default 0 not null,
  -- Charges that no grant has covered yet; the only way for available to be negative.
  debt bigint default 0 not null,
  -- Count of the account's entries, which is the number of the last one.
  entries bigint default 0 not null,
  -- The account's own time: when its last entry was made.
  updated_at timestamp with time zone not null,
  PRIMARY KEY (account_id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint balances_granted_max CHECK (granted <= '9000000000000000'::bigint),
  constraint balances_sound CHECK (granted = (available + reserved + charged + lapsed) AND LEAST(reserved, charged, lapsed, debt, available + debt) >= 0)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

-- Every configuration that was ever in force; the newest version is.
create table config_versions (
  version bigint generated always as identity not null,
  -- "file", "built-in" or "operator".
  source text not null,
  -- As written, with ${NAME} references; literal secrets are masked.
  document json not null,
  -- Upstream id to secret, each encrypted under the deployment's root secret.
  sealed_secrets json not null,
  -- Keyed digest of document and secrets: an equal one means that nothing changed.
  digest text not null,
  applied_at timestamp with time zone not null,
  -- Operator, person or part of the program that applied it, as in the audit.
  actor text not null,
  -- Lines of a comparison with the version before it.
  change_count integer not null,
  PRIMARY KEY (version),
  CHECK (change_count >= 0)
);

-- Media that callers uploaded for later requests.
create table files (
  id text not null,
  account_id text not null,
  object_key text not null,
  filename text not null,
  -- The caller's own word for what it is for.
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

-- States of completed sign-ins at the identity provider: a state is accepted once, so a callback cannot be replayed.
create table finished_sign_ins (
  -- SHA-256 of the state.
  digest bytea not null,
  -- From then on the state is refused by its own age, and the row is deleted.
  expires_at timestamp with time zone not null,
  PRIMARY KEY (digest)
);
CREATE INDEX finished_sign_ins_expired ON public.finished_sign_ins USING btree (expires_at);

-- Credits given to an account. A negative amount revokes unspent credits of other grants; its own row never has a
-- remainder.
create table grants (
  id text not null,
  -- Assigned under the account's lock, so within an account it is the order of age.
  number bigint generated always as identity not null,
  account_id text not null,
  amount bigint not null,
  -- Derived from the entries.
  remaining bigint default 0 not null,
  -- In the indexes instead of remaining: it changes only when a grant is used up or refilled, so most updates are HOT.
  spendable boolean generated always as ((remaining > 0)) stored,
  -- Where the credits come from, in the operator's words.
  source text not null,
  -- Idempotency key of the payment: one payment cannot be granted twice.
  reference text,
  -- When the remainder lapses; null never expires.
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint grants_sound CHECK (amount <> 0 AND remaining >= 0 AND remaining <= GREATEST(amount, 0::bigint))
) with (fillfactor=50);
CREATE INDEX grants_expiring ON public.grants USING btree (expires_at) WHERE spendable;
CREATE INDEX grants_newest ON public.grants USING btree (account_id, number DESC);
-- The spending order: soonest expiry first, never expiring last, then age. Partial, so that a long history of spent
-- grants costs nothing.
CREATE INDEX grants_spending_order ON public.grants USING btree (account_id, expires_at, number) WHERE spendable;
CREATE UNIQUE INDEX grants_reference ON public.grants USING btree (reference);

-- Callers' Idempotency-Key values: a repeated create call is answered with the first one's job. Without a job the row
-- is a claim, which keeps repeats out while the request's media are fetched.
create table idempotency_keys (
  account_id text not null,
  -- API key or OAuth grant of the request: the scope of its keys.
  credential text not null,
  key text not null,
  -- Digest of the request, to tell a repeat from another request.
  fingerprint bytea not null,
  -- No foreign key: a job that is deleted would be looked for among all keys, and keys are forgotten before their jobs.
  job_id text,
  -- Id of the claim: a request that fails deletes its own claim, never a later one.
  claim uuid,
  -- When the claim runs out, or the key is forgotten.
  delete_at timestamp with time zone not null,
  PRIMARY KEY (account_id, credential, key),
  constraint idempotency_keys_job_or_claim CHECK ((job_id IS NULL) = (claim IS NOT NULL))
);
CREATE INDEX idempotency_keys_due ON public.idempotency_keys USING btree (delete_at);

-- Results of succeeded jobs.
create table job_assets (
  id text not null,
  job_id text not null,
  -- Place in the job's list of results, from 0.
  ordinal smallint not null,
  kind text not null,
  -- Key of the bytes in stored_objects.
  object_key text not null,
  mime_type text not null,
  bytes bigint not null,
  width integer,
  height integer,
  -- Length of sound or video as a decoder plays it.
  seconds double precision,
  created_at timestamp with time zone not null,
  UNIQUE (job_id, ordinal),
  PRIMARY KEY (id),
  FOREIGN KEY (job_id) REFERENCES jobs(id),
  CHECK (kind = ANY (ARRAY['image'::text, 'video'::text, 'audio'::text, 'thumbnail'::text])),
  CHECK (ordinal >= 0)
);

-- One call to one upstream for some of a job's results. The row is committed before the call: one that is still
-- "calling" when the job is leased again had an unknown outcome, and is never repeated.
create table job_attempts (
  job_id text not null,
  number smallint not null,
  upstream_id text not null,
  upstream_model text not null,
  -- How many results this call is for.
  count smallint not null,
  -- calling -> refused | accepted | ready | collected | failed; accepted -> ready | collected | failed; ready ->
  -- collected | failed. A refused attempt may be followed by one at another upstream.
  state text not null,
  -- The upstream's handle of the running work, all that a poll needs. Never searched.
  task json,
  -- Where the upstream offers the results. Never searched.
  outputs json,
  -- What was stored of the outputs. Never searched.
  collected json,
  -- Consecutive polls or collections, by any process, whose answer could not be used.
  tries smallint default 0 not null,
  error_code text,
  -- The upstream's own words with secrets redacted, for operators only.
  detail text,
  started_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (job_id, number),
  FOREIGN KEY (job_id) REFERENCES jobs(id),
  CHECK (count > 0),
  CHECK (state = ANY (ARRAY['calling'::text, 'refused'::text, 'accepted'::text, 'ready'::text, 'collected'::text, 'failed'::text]))
) with (fillfactor=70);

-- Media work with its state. The terminal state and the money change in one transaction.
create table jobs (
  id text not null,
  account_id text not null,
  -- An API key or an OAuth grant; null for the console.
  key_id text,
  -- The caller's routing groups at admission: which upstreams may serve the job.
  groups text[] not null,
  kind text not null,
  endpoint text not null,
  model text not null,
  status text not null,
  progress smallint default 0 not null,
  -- How many results were requested.
  wanted smallint not null,
  -- The request and its estimate; json, not jsonb, keeps numbers as written. Never searched.
  request json not null,
  request_id text not null,
  reservation_id uuid not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone,
  -- When an upstream first accepted it.
  accepted_at timestamp with time zone,
  finished_at timestamp with time zone,
  -- A job that no upstream has accepted until then expires and is refunded.
  dispatch_deadline_at timestamp with time zone not null,
  error_code text,
  -- Micro-credits, once it has ended.
  charged bigint,
  -- Micro-credits that a succeeded job cost the operator; null where one of its routes states no cost.
  cost bigint,
  -- When its account deleted the video that it was to make; the job and its money stay.
  deleted_at timestamp with time zone,
  UNIQUE (reservation_id),
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint jobs_accepted CHECK (status <> 'running'::text OR accepted_at IS NOT NULL),
  constraint jobs_charged CHECK ((charged IS NOT NULL) = (finished_at IS NOT NULL)),
  CHECK (charged >= 0),
  CHECK (cost >= 0),
  constraint jobs_error CHECK ((error_code IS NOT NULL) = (status = ANY (ARRAY['failed'::text, 'queue_expired'::text]))),
  constraint jobs_finished CHECK ((finished_at IS NOT NULL) = (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'queue_expired'::text, 'canceled'::text]))),
  CHECK (kind = ANY (ARRAY['image'::text, 'video'::text, 'audio'::text])),
  CHECK (progress >= 0 AND progress <= 100),
  CHECK (status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'queue_expired'::text, 'canceled'::text])),
  CHECK (wanted > 0)
);
CREATE INDEX jobs_all_newest ON public.jobs USING btree (created_at DESC, id DESC);
CREATE INDEX jobs_newest ON public.jobs USING btree (account_id, created_at DESC, id DESC);

-- What each credential has spent, in all and in the current periods of the UTC calendar. Checked against credit_limit.
create table key_spending (
  -- An API key or an OAuth grant, hence no foreign key.
  key_id text not null,
  -- Sum of its open reservations.
  held bigint default 0 not null,
  spent bigint default 0 not null,
  -- The day that day_spent counts.
  day date not null,
  day_spent bigint default 0 not null,
  -- First day (Monday) of the week that week_spent counts.
  week date not null,
  week_spent bigint default 0 not null,
  -- First day of the month that month_spent counts.
  month date not null,
  month_spent bigint default 0 not null,
  PRIMARY KEY (key_id),
  constraint key_spending_sound CHECK (LEAST(held, spent, day_spent, week_spent, month_spent) >= 0)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

-- Figures that the last check of the books proved, so that the next one only adds up the entries after it.
create table ledger_checkpoints (
  -- Table of the figures.
  kind text not null,
  -- Account, grant or key.
  id text not null,
  -- The row's figures at the checkpoint, in the order of the program's list.
  figures bigint[] not null,
  PRIMARY KEY (kind, id),
  CHECK (kind = ANY (ARRAY['balances'::text, 'grants'::text, 'key_spending'::text]))
);

-- Generation of the checkpoints, and the last verdict; exactly one row.
create table ledger_checks (
  only_row boolean default true not null,
  -- Incremented when checkpoints are written. All are of one snapshot: a check writes its own only if the generation is
  -- still the one that it read.
  generation bigint not null,
  -- When the books were last checked; null before the first time.
  checked_at timestamp with time zone,
  -- What that check found.
  balanced boolean,
  -- Process that checks the books now, by the clock.
  owner text,
  lease_until timestamp with time zone,
  PRIMARY KEY (only_row),
  CHECK (only_row),
  constraint ledger_checks_verdict CHECK ((checked_at IS NULL) = (balanced IS NULL))
);

-- Append-only ledger. Each entry moves credits between five places; the signed columns granted, available, reserved,
-- charged and lapsed are what it adds to each.
create table ledger_entries (
  account_id text not null,
  -- Gapless within an account, so a missing or doubled row shows.
  number bigint not null,
  -- grant, revoke, reserve, settle, refund; charge: cost above the reservation, which becomes debt; cover: grants pay
  -- debt; lapse: the remainder of an expired grant.
  type text not null,
  granted bigint not null,
  available bigint not null,
  reserved bigint not null,
  charged bigint not null,
  lapsed bigint not null,
  -- Available credits after the entry, so an altered row shows.
  balance bigint not null,
  created_at timestamp with time zone not null,
  reservation_id uuid,
  -- The grants that the entry changes.
  grant_ids text[] not null,
  -- How much was taken from (negative) or returned to each of grant_ids.
  parts bigint[] not null,
  -- What a settlement counted: tokens, images, seconds. Never searched.
  units json,
  PRIMARY KEY (account_id, number),
  constraint ledger_entries_sound CHECK (ledger_entry_is_sound(type, granted, available, reserved, charged, lapsed, reservation_id) AND number > 0 AND cardinality(grant_ids) = cardinality(parts))
);
-- Sums over all accounts. A BRIN index of page ranges: it costs an insert next to nothing.
CREATE INDEX ledger_entries_by_time ON public.ledger_entries USING brin (created_at) WITH (autosummarize='on');
CREATE INDEX ledger_entries_usage ON public.ledger_entries USING btree (account_id, created_at) WHERE (charged > 0);
-- A reservation is made once, ends once, and is exceeded once.
CREATE UNIQUE INDEX ledger_entries_once ON public.ledger_entries USING btree (reservation_id, (
CASE type
    WHEN 'reserve'::text THEN 'hold'::text
    WHEN 'charge'::text THEN 'excess'::text
    ELSE 'end'::text
END)) WHERE (reservation_id IS NOT NULL);
-- Entries are never changed or removed.
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
-- Derived figures change in the transaction of the entries.
CREATE TRIGGER ledger_entries_derive AFTER INSERT ON public.ledger_entries REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive();

-- Days of the UTC calendar whose entries were written to the object store, or are being written by a process under a
-- lease.
create table ledger_exports (
  day date not null,
  -- Process that writes it now.
  owner text,
  lease_until timestamp with time zone,
  object_key text,
  -- How many entries the file has.
  entries bigint,
  bytes bigint,
  -- Of the file as it is stored, in hexadecimal.
  sha256 text,
  exported_at timestamp with time zone,
  PRIMARY KEY (day),
  constraint ledger_exports_done CHECK (num_nulls(object_key, entries, bytes, sha256, exported_at) = ANY (ARRAY[0, 5])),
  constraint ledger_exports_owner_and_lease CHECK ((owner IS NULL) = (lease_until IS NULL))
);

-- Reservations and endings made from purses that have no entries yet, in their order. Vacuum does not truncate its
-- file, since that would lock writers out.
create table ledger_journal (
  account_id text not null,
  number bigint generated always as identity not null,
  purse_id uuid not null,
  -- Process that owns the reservations; see reservation_owners.
  owner text not null,
  -- List of all changes that were written from the purse at one time; see ledger_change.
  changes json not null,
  -- The prices that the changes written at that time name, each by its id: once per row, since most calls of a moment
  -- have the same.
  prices json not null,
  PRIMARY KEY (account_id, number)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, vacuum_truncate=false);

-- Roles of people in accounts.
create table memberships (
  person_id text not null,
  account_id text not null,
  role text not null,
  -- The role comes from a group at the identity provider, and is removed when the group is.
  mapped boolean default false not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (person_id, account_id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  CHECK (role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text]))
);
CREATE INDEX memberships_of_account ON public.memberships USING btree (account_id, created_at);

-- Migrations that were applied to this database, each in the transaction of its row. Made by the migrator itself.
create table migrations (
  number integer not null,
  name text not null,
  -- SHA-256 of the text, by which a database of another history is recognised.
  digest text not null,
  applied_at timestamp with time zone default now() not null,
  -- Oldest release whose processes work on a database that has this migration; null for one that only adds.
  needs text,
  PRIMARY KEY (number)
);

-- When each public model name was first sold. Rows outlive the model, so a name keeps its date.
create table models (
  id text not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (id)
);

-- Third-party applications that are registered with the authorization server.
create table oauth_clients (
  id text not null,
  name text not null,
  home_page text,
  logo text,
  redirect_uris text[] not null,
  -- The most that a person can grant the client.
  scopes text[] not null,
  -- Null for a public client, which proves itself by PKCE alone.
  secret_digest bytea,
  -- May use the device flow; every client may use the code flow.
  device_flow boolean default false not null,
  -- May ask what a token is worth.
  introspection boolean default false not null,
  created_at timestamp with time zone not null,
  -- A deleted client keeps its row, for the grants that name it.
  deleted_at timestamp with time zone,
  PRIMARY KEY (id),
  CHECK (cardinality(redirect_uris) > 0),
  CHECK (cardinality(scopes) > 0)
);

-- What a person lets a client do with an account. One unrevoked grant per client, account and person, so its limit
-- bounds the client on all of the person's devices.
create table oauth_grants (
  id text not null,
  client_id text not null,
  -- Pays for the calls.
  account_id text not null,
  person_id text not null,
  scopes text[] not null,
  -- Micro-credits that may be spent in all or per period; null is no limit.
  credit_limit bigint,
  -- Period of the limit by the UTC calendar; null counts from the beginning.
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
-- Every OAuth grant has a row of spending.
CREATE TRIGGER oauth_grants_open_spending AFTER INSERT ON public.oauth_grants FOR EACH ROW EXECUTE FUNCTION ledger_open_key();

-- Codes, tokens and whatever else the authorization server stores. Of each secret there is only a digest; the payload
-- does not repeat it.
create table oauth_records (
  -- The server's name for it: AuthorizationCode, AccessToken, RefreshToken, DeviceCode, Interaction, Session.
  kind text not null,
  -- SHA-256 of the code, token or id by which it is looked up.
  digest bytea not null,
  -- As the server wrote it. Never searched.
  payload json not null,
  grant_id text,
  -- SHA-256 of the code that a person types in the device flow.
  user_code_digest bytea,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  -- When a code or refresh token was used.
  consumed_at timestamp with time zone,
  PRIMARY KEY (kind, digest),
  FOREIGN KEY (grant_id) REFERENCES oauth_grants(id)
);
CREATE INDEX oauth_records_expired ON public.oauth_records USING btree (expires_at);
CREATE INDEX oauth_records_of_grant ON public.oauth_records USING btree (grant_id) WHERE (grant_id IS NOT NULL);
CREATE UNIQUE INDEX oauth_records_user_code ON public.oauth_records USING btree (kind, user_code_digest) WHERE (user_code_digest IS NOT NULL);

-- Mailed links that work once: to sign in, to set a password, to accept an invitation, to confirm a sign-up.
create table one_time_links (
  id text not null,
  -- SHA-256 of the link's secret.
  digest bytea not null,
  purpose text not null,
  -- Null for an invitation and a sign-up, whose email need not belong to a person yet.
  person_id text,
  email text not null,
  -- Account that an invitation is to.
  account_id text,
  -- Role in the account that an invitation gives.
  role text,
  -- Role on the deployment that an invitation gives.
  operator_role text,
  -- Actor, as in the audit record.
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  constraint one_time_links_account_and_role CHECK ((account_id IS NULL) = (role IS NULL)),
  CHECK (operator_role = ANY (ARRAY['operator'::text, 'auditor'::text])),
  constraint one_time_links_person CHECK ((purpose = ANY (ARRAY['invitation'::text, 'sign_up'::text])) = (person_id IS NULL)),
  CHECK (purpose = ANY (ARRAY['sign_in'::text, 'set_password'::text, 'invitation'::text, 'sign_up'::text])),
  CHECK (role = ANY (ARRAY['owner'::text, 'member'::text, 'viewer'::text]))
);
CREATE INDEX one_time_links_expired ON public.one_time_links USING btree (expires_at);
CREATE INDEX one_time_links_of_account ON public.one_time_links USING btree (account_id, created_at DESC, id DESC);
-- When a link was last mailed to an address.
CREATE INDEX one_time_links_of_email ON public.one_time_links USING btree (lower(email), created_at DESC);
CREATE UNIQUE INDEX one_time_links_digest ON public.one_time_links USING btree (digest);

-- The queue: one small row per job that has not ended, apart from jobs because it changes at every step. A worker
-- leases a job by moving due_at into the future and incrementing fence.
create table open_jobs (
  job_id text not null,
  account_id text not null,
  -- When any worker may lease it; while it is leased, when the lease runs out.
  due_at timestamp with time zone not null,
  -- Order among due jobs: by age, with a delay for each open job that its account had before it, so that one account
  -- cannot starve the others.
  place timestamp with time zone not null,
  -- Grows with each lease. Every write names the fence of its lease, so a worker that lost its lease can change
  -- nothing.
  fence integer default 0 not null,
  PRIMARY KEY (job_id),
  FOREIGN KEY (job_id) REFERENCES jobs(id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
CREATE INDEX open_jobs_account ON public.open_jobs USING btree (account_id);
CREATE INDEX open_jobs_due ON public.open_jobs USING btree (due_at);

-- Reservations that have not ended. Small, however long the history is.
create table open_reservations (
  reservation_id uuid not null,
  -- Cost delivered so far, charged when the owner's lease runs out.
  known bigint default 0 not null,
  -- Process whose call it is for; null for a job, which outlives processes.
  owner text,
  -- First lease. The reservation is abandoned when both this one and its owner's in reservation_owners have run out.
  lease_until timestamp with time zone,
  PRIMARY KEY (reservation_id),
  CHECK (known >= 0),
  constraint open_reservations_owner_and_lease CHECK ((owner IS NULL) = (lease_until IS NULL))
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

-- Persons who can sign in.
create table people (
  id text not null,
  email text not null,
  name text not null,
  -- argon2id hash of the password in its encoded form; null where no password is set.
  verifier text,
  -- Role on the whole deployment, beside any membership; null for none.
  operator_role text,
  -- The role comes from a group at the identity provider, and is removed when the group is.
  operator_role_mapped boolean default false not null,
  -- Identity provider of the organisation, set at the first sign-in there.
  issuer text,
  -- The person's id at the issuer.
  subject text,
  -- Account whose routing groups follow the person's groups at the identity provider: the one that had the person's
  -- email at the first sign-in there, or the one that was created then.
  own_account_id text,
  disabled boolean default false not null,
  created_at timestamp with time zone not null,
  last_sign_in_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (own_account_id) REFERENCES accounts(id),
  constraint people_issuer_and_subject CHECK ((issuer IS NULL) = (subject IS NULL)),
  CHECK (operator_role = ANY (ARRAY['operator'::text, 'auditor'::text]))
);
CREATE INDEX people_newest ON public.people USING btree (created_at DESC, id DESC);
CREATE UNIQUE INDEX people_email ON public.people USING btree (lower(email));
CREATE UNIQUE INDEX people_subject ON public.people USING btree (issuer, subject);

-- Frozen prices, each stored once however many reservations were made at it. Rows are never changed or removed.
create table prices (
  -- Digest of the text, made by the program.
  id uuid not null,
  -- Rates, ratios and tiers as they were in force. Never searched.
  price json not null,
  PRIMARY KEY (id)
);
-- A frozen price is never changed or removed.
CREATE TRIGGER prices_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.prices FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

-- Live processes of this deployment. Liveness is judged by the database's own time: processes on several machines must
-- agree on it, and it must not jump with the test clock.
create table processes (
  id text not null,
  started_at timestamp with time zone not null,
  last_seen timestamp with time zone not null,
  -- Whether it answers callers, works on jobs and duties of the deployment, or does both.
  role text not null,
  PRIMARY KEY (id),
  CHECK (role = ANY (ARRAY['both'::text, 'serve'::text, 'work'::text]))
);

-- Digest of the public price list, for its modification date; at most one row.
create table public_list (
  only_row boolean default true not null,
  digest text not null,
  -- When the list last became another.
  updated_at timestamp with time zone not null,
  PRIMARY KEY (only_row),
  CHECK (only_row)
);

-- Credits of an account that a process has drawn in advance. Deleting the row recalls the purse.
create table purses (
  id uuid not null,
  account_id text not null,
  process_id text not null,
  -- Set aside from all other reservations: what the process has not reserved of it yet, and what it has but is still in
  -- the journal.
  amount bigint not null,
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
CREATE INDEX purses_account ON public.purses USING btree (account_id);

-- One row per authenticated request that asked for work, refused ones included. Written behind in batches after the
-- answer: a process that is killed loses the rows that it has not written. No foreign keys: a batch must not fail for
-- one row.
create table request_log (
  -- UUID version 7 made from created_at, so that the order of ids is the order of time and ranges of time are ranges of
  -- ids.
  id uuid not null,
  -- When the request came.
  created_at timestamp with time zone not null,
  account_id text not null,
  -- An API key or an OAuth grant; null for the console.
  key_id text,
  -- Who ran it in the console.
  person_id text,
  -- The id in the answer. Callers may use one more than once.
  request_id text not null,
  endpoint text not null,
  -- As it was asked for; such a model need not exist.
  model text,
  status smallint not null,
  -- Code of the answer, or of the frame that ended a stream. A job that fails later has its own in jobs.
  error_code text,
  duration_ms integer not null,
  streamed boolean not null,
  -- Upstream of the last attempt of a call; jobs and transcriptions name theirs in their own tables.
  upstream_id text,
  -- What it cost is told by the ledger's entries of this reservation.
  reservation_id uuid,
  job_id text,
  -- Micro-credits that a settled call cost the operator; null where its route states no cost. A job has its own in
  -- jobs.
  cost bigint,
  -- How many requests the row stands for: those refused by scope or rate are one row per key, route, code and minute.
  requests integer not null,
  PRIMARY KEY (id),
  CHECK (cost >= 0),
  CHECK (requests > 0)
) with (autovacuum_vacuum_insert_scale_factor=0.05);
-- A caller or an operator looks a request up by the id in the answer.
CREATE INDEX request_log_by_request ON public.request_log USING btree (request_id);
-- Requests that failed, and jobs, which may fail later: what is searched for most is rare among the rest.
CREATE INDEX request_log_failures ON public.request_log USING btree (account_id, id) WHERE ((status >= 400) OR (error_code IS NOT NULL) OR (job_id IS NOT NULL));
CREATE INDEX request_log_of_account ON public.request_log USING btree (account_id, id);

-- Leases of processes: a live process extends the lease of all its reservations by one row.
create table reservation_owners (
  process_id text not null,
  lease_until timestamp with time zone not null,
  PRIMARY KEY (process_id)
);

-- Credits reserved for one call or job. Rows are never updated, so a long history has no dead tuples. No foreign keys:
-- every row is written by ledger functions that have account and key in hand, and the check would cost more than the
-- insert.
create table reservations (
  -- Made by the program before the insert (UUID version 7, so that new rows are neighbours): a retry finds its own row.
  id uuid not null,
  amount bigint not null,
  created_at timestamp with time zone not null,
  account_id text not null,
  -- An API key or an OAuth grant; null for the console.
  key_id text,
  -- The grants it was taken from, in spending order.
  grant_ids text[] not null,
  -- How much was taken from each of grant_ids.
  parts bigint[] not null,
  request_id text not null,
  job_id text,
  model text not null,
  endpoint text not null,
  -- The price in force when the credits were reserved, in prices.
  price_id uuid not null,
  PRIMARY KEY (id),
  CHECK (amount >= 0)
);
-- A caller looks its request up by the id in the answer.
CREATE INDEX reservations_by_request ON public.reservations USING btree (request_id, account_id);
-- Lists over all accounts. A BRIN index of page ranges: it costs an insert next to nothing.
CREATE INDEX reservations_by_time ON public.reservations USING brin (created_at) WITH (autosummarize='on');

-- Written by group commit before the end of the answer that they are of, for a day, unless the caller asked not to. No
-- foreign key: a batch must not fail for one row.
create table response_items (
  -- As in the answer; it begins with the time, so that new rows lie side by side.
  id text not null,
  account_id text not null,
  -- The item as it was sent, as JSON.
  item text not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (id)
);
CREATE INDEX response_items_by_expiry ON public.response_items USING btree (expires_at);

-- Signed-in browsers.
create table sessions (
  id text not null,
  -- SHA-256 of the cookie's value.
  digest bytea not null,
  person_id text not null,
  -- Account that the console shows; null for a person without a membership.
  account_id text,
  -- How the person signed in.
  method text not null,
  -- IP address at sign-in, shown to the person.
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

-- Every object that must be deleted one day. The row is written before the bytes, with an early delete_at: an object
-- whose owner is never committed is deleted by the clean-up.
create table stored_objects (
  -- Key in the object store.
  key text not null,
  account_id text not null,
  mime_type text not null,
  -- Zero while the object is being written.
  bytes bigint not null,
  delete_at timestamp with time zone not null,
  PRIMARY KEY (key)
);
CREATE INDEX stored_objects_due ON public.stored_objects USING btree (delete_at);

-- Offset of the test clock, shared by all processes; at most one row.
create table test_clock (
  only_row boolean default true not null,
  offset_ms bigint not null,
  PRIMARY KEY (only_row),
  CHECK (offset_ms >= 0),
  CHECK (only_row)
);

-- One record per transcription, committed together with its reservation. State, result and money change in one
-- transaction.
create table transcriptions (
  -- The request id that the caller was answered with.
  id text not null,
  account_id text not null,
  -- An API key or an OAuth grant; null for the console.
  key_id text,
  model text not null,
  -- Options of the answer. Neither the caller's prompt nor the source of the sound.
  request json not null,
  -- The stored sound, until the work ends; null for a small clip, kept in memory.
  object_key text,
  -- Measured length of the sound, by which it is priced.
  seconds double precision not null,
  status text not null,
  -- pending: the credits are reserved; unknown: the process that worked on it is gone, and another one finds the
  -- outcome out.
  settlement_state text not null,
  reservation_id uuid not null,
  -- Upstream of the last attempt, committed before the call.
  upstream_id text,
  upstream_model text,
  -- The upstream's handle of the running work, all that a poll needs. Never searched.
  task json,
  -- Process that works on it.
  owner text,
  -- First lease. Another process takes the record over when both this one and its owner's in reservation_owners have
  -- run out.
  lease_until timestamp with time zone not null,
  -- Grows with each takeover. Every write names its fence, so a process that lost the record can change nothing.
  fence integer default 0 not null,
  -- Null once it has expired. json, not jsonb: a transcript may hold characters that jsonb refuses.
  result json,
  -- Micro-credits, once it has ended.
  charged bigint,
  error_code text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  -- When the result is deleted; null keeps it for ever.
  expires_at timestamp with time zone,
  -- Micro-credits that a completed transcription cost the operator; null where its route states no cost.
  cost bigint,
  UNIQUE (reservation_id),
  PRIMARY KEY (id),
  FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint transcriptions_charged CHECK ((charged IS NOT NULL) = (completed_at IS NOT NULL)),
  CHECK (charged >= 0),
  constraint transcriptions_completed CHECK ((completed_at IS NOT NULL) = (status <> ALL (ARRAY['pending'::text, 'processing'::text]))),
  CHECK (cost >= 0),
  constraint transcriptions_error CHECK ((error_code IS NOT NULL) = (status = ANY (ARRAY['failed'::text, 'unavailable'::text]))),
  constraint transcriptions_result CHECK ((result IS NOT NULL) = (status = 'completed'::text)),
  CHECK (seconds > 0::double precision),
  constraint transcriptions_settled CHECK ((settlement_state = 'settled'::text) = (status = ANY (ARRAY['completed'::text, 'expired'::text]))),
  constraint transcriptions_settlement CHECK ((settlement_state = ANY (ARRAY['settled'::text, 'released'::text])) = (completed_at IS NOT NULL)),
  CHECK (settlement_state = ANY (ARRAY['pending'::text, 'unknown'::text, 'settled'::text, 'released'::text])),
  CHECK (status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'unavailable'::text, 'expired'::text]))
);
CREATE INDEX transcriptions_expiring ON public.transcriptions USING btree (expires_at) WHERE (status = 'completed'::text);
CREATE INDEX transcriptions_newest ON public.transcriptions USING btree (account_id, created_at DESC, id DESC);
CREATE INDEX transcriptions_open ON public.transcriptions USING btree (lease_until) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));

-- Circuit breakers, shared by all processes: one per upstream and model on its wire, so that a failing model does not
-- close its upstream's others. Written only on a change of state, so a healthy upstream costs nothing.
create table upstream_breakers (
  upstream_id text not null,
  -- Empty for the upstream as a whole: its credential, its balance.
  upstream_model text not null,
  -- Consecutive failed requests before it opened.
  strikes integer not null,
  -- Openings without a success in between; each doubles the next open time.
  trips integer not null,
  opened_at timestamp with time zone,
  -- Null while the breaker is closed.
  open_until timestamp with time zone,
  -- The upstream named open_until itself (Retry-After): no probe is sent before it.
  has_retry_after boolean not null,
  last_fault text,
  -- The upstream's own words with secrets redacted, for operators only.
  last_detail text,
  last_fault_at timestamp with time zone,
  PRIMARY KEY (upstream_id, upstream_model),
  CHECK (strikes >= 0),
  CHECK (trips >= 0)
);

-- What was charged, added up from the entries that usage_progress counts. The later ones are not in it: whoever reports
-- adds them.
create table usage_hours (
  account_id text not null,
  -- Beginning of the hour in which the entries were made.
  hour timestamp with time zone not null,
  -- An API key or an OAuth grant; empty for the console.
  key_id text not null,
  model text not null,
  endpoint text not null,
  -- Those that were charged anything.
  requests bigint not null,
  -- Micro-credits.
  credits bigint not null,
  PRIMARY KEY (account_id, hour, key_id, model, endpoint)
) with (fillfactor=70);
CREATE INDEX usage_hours_by_time ON public.usage_hours USING btree (hour);

-- How far each account's usage is added up. The row is also the lock of whoever adds more.
create table usage_progress (
  account_id text not null,
  -- Number of the last entry that usage_hours has.
  entries bigint default 0 not null,
  -- When that entry was made. An account's later ones are not older, so they are found by an index of times.
  upto timestamp with time zone default '-infinity'::timestamp with time zone not null,
  PRIMARY KEY (account_id),
  FOREIGN KEY (account_id) REFERENCES accounts(id)
) with (fillfactor=70);

-- Target of the write probe, always empty: the probe writes a few pages into a new file of it and rolls back, which
-- proves that the disk has room. Unlogged, so that the probe adds nothing to the write-ahead log.
create unlogged table write_probe (
  -- Stored plain: compressed, it would need no new page.
  filler text storage plain not null
);

-- One change of a reservation: the one shape of the JSON lists that ledger_commit and ledger_journal take.
create type ledger_change as (
  -- reserve, settle or refund.
  kind text,
  -- The reservation.
  id uuid,
  -- Of an ending: where the journal may have the reservation; null for a job, which has none there.
  account_id text,
  -- Micro-credits to reserve or, of a settlement, to charge.
  amount bigint,
  -- In the journal: when, in Unix milliseconds. ledger_commit has its own moment.
  at_ms bigint,
  -- In the journal: until when the reservation's first lease lasts.
  lease_ms bigint,
  key_id text,
  request_id text,
  job_id text,
  model text,
  endpoint text,
  price_id uuid,
  -- Of a reservation that was admitted from a purse which has been recalled since: it is never refused, and as much as
  -- is left is reserved.
  late boolean,
  units json
);

-- Makes a list of changes in one transaction; endings first, so that what they return can be reserved. Answers each at
-- its index; a "busy" one was not made, since another transaction had its account locked and the lock mode was "skip".
-- new_prices has the prices that they name by their ids; they are stored in the order of ids and under the accounts'
-- locks, which excludes deadlocks. Every look-up is by a whole key: the settings keep a plan made for small tables
-- right for large ones, and keep it from being made again for every commit.
CREATE OR REPLACE FUNCTION public.ledger_commit(moment timestamp with time zone, lock_mode text, changes json, new_prices json, owner text, lease_until timestamp with time zone)
 RETURNS json
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  list ledger_change[] := array(select change from json_populate_recordset(null::ledger_change, changes) as change);
  -- Of an ending, the account that it names and the one that its reservation has: it may stand in the journal only.
  named text[] := array(
    select account_id from unnest(list) as change where account_id is not null
    union select r.account_id from unnest(list) as change join reservations r on r.id = change.id where kind <> 'reserve');
  busy text[] := ledger_lock(named, lock_mode);
  locked text[] := named;
  answers json[] := '{}';
begin
  if busy <> '{}' then locked := array(select unnest(named) except select unnest(busy)); end if;
  if exists (select from unnest(list) as change where kind = 'reserve' group by id having count(*) > 1) then
    raise unique_violation using message = 'one id twice in one list of changes';
  end if;
  perform ledger_post(locked);
  -- An account that is only named, or whose reservations have all ended before, has nothing to change.
  locked := array(select unnest(locked) intersect (
    select account_id from unnest(list) as change where kind = 'reserve'
    union select r.account_id from unnest(list) as change join open_reservations o on o.reservation_id = change.id
      join reservations r on r.id = change.id where kind <> 'reserve'));
  perform ledger_recall(locked, list);
  answers := ledger_end(moment, locked, busy, list, answers);
  perform ledger_lapse_and_cover(moment, locked);
  insert into prices select key::uuid, value from json_each(new_prices) order by key on conflict do nothing;
  answers := ledger_reserve(moment, busy, list, owner, lease_until, answers);
  return array_to_json(answers);
end $function$;

-- Changes what a grant says about itself; its credits are changed by entries alone. Null leaves source or reference as
-- it is. Returns "changed", "unknown", "over" (lapsed, or a revocation) or "duplicate".
CREATE OR REPLACE FUNCTION public.ledger_correct_grant(moment timestamp with time zone, grant_id text, new_source text, new_reference text, sets_expiry boolean, new_expires_at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  owner_id text := (select account_id from grants where id = grant_id);
begin
  if owner_id is null then return 'unknown'; end if;
  perform ledger_lock(array[owner_id], 'wait');
  -- What was reserved before is paid from the grants as they were before.
  delete from purses where account_id = owner_id and sets_expiry;
  perform ledger_post(array[owner_id]);
  perform ledger_lapse_and_cover(moment, array[owner_id]);
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

-- Pays debt from spendable grants in spending order: an account never has debt and spendable credits at once.
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

-- Adds new entries to the figures derived from them: the only writer of grants.remaining, balances and key_spending.
-- Entries of one reservation are summed before its key is looked up, which is most of the cost.
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

-- Settles or refunds reservations of locked accounts; a reservation that has ended is left as it is, so a retry is
-- harmless. Answers each such change at its index: [state, charged], "busy" or "unknown".
CREATE OR REPLACE FUNCTION public.ledger_end(moment timestamp with time zone, locked text[], busy text[], changes ledger_change[], answers json[])
 RETURNS json[]
 LANGUAGE plpgsql
AS $function$
declare
  change record;
  current_account text := '';
  balance bigint;
  number bigint;
  covered bigint;
  excess bigint;
  new_entries ledger_entries[];
  closed uuid[] := '{}';
begin
  -- Ordered by account for the running figures; within an account first come, first served.
  for change in
    select c.ordinality as index, c.kind, c.account_id as named_account_id, c.units,
      case c.kind when 'settle' then c.amount else 0 end as actual, r.id, r.account_id, r.amount, r.grant_ids, r.parts,
      o.reservation_id is not null as is_open, b.available, b.entries, greatest(moment, b.updated_at) as at
    from unnest(changes) with ordinality as c
    left join reservations r on r.id = c.id
    left join open_reservations o on o.reservation_id = c.id
    left join balances b on b.account_id = r.account_id
    where c.kind <> 'reserve'
    order by r.account_id, c.ordinality
  loop
    if change.id is null then
      -- It may stand in the journal of an account that is locked elsewhere.
      answers[change.index] := case when change.named_account_id = any (busy) then '"busy"' else '"unknown"' end;
    elsif not change.is_open then
      answers[change.index] := (
        select json_build_array(case when bool_or(type = 'settle') then 'settled' else 'refunded' end, sum(charged))
        from ledger_entries where reservation_id = change.id);
    elsif change.account_id = any (busy) then
      answers[change.index] := '"busy"';
    elsif change.account_id <> all (locked) then
      answers[change.index] := '"unknown"';
    else
      if change.account_id <> current_account then
        current_account := change.account_id;
        balance := change.available;
        number := change.entries;
      end if;
      covered := least(change.actual, change.amount);
      excess := greatest(change.actual - change.amount, 0);
      number := number + 1;
      balance := balance + change.amount - covered;
      new_entries := new_entries || row(change.account_id, number, change.kind, 0, change.amount - covered, -change.amount,
        covered, 0, balance, change.at, change.id, change.grant_ids, ledger_returned(change.parts, covered),
        change.units)::ledger_entries;
      if excess > 0 then
        number := number + 1;
        balance := balance - excess;
        new_entries := new_entries || row(change.account_id, number, 'charge', 0, -excess, 0, excess, 0, balance, change.at,
          change.id, '{}', '{}', null)::ledger_entries;
      end if;
      closed := closed || change.id;
      answers[change.index] := json_build_array(case change.kind when 'settle' then 'settled' else 'refunded' end,
        change.actual);
    end if;
  end loop;
  if new_entries is not null then
    insert into ledger_entries select entry.* from unnest(new_entries) as entry;
    delete from open_reservations where reservation_id = any (closed);
  end if;
  return answers;
end $function$;

-- Debits equal credits, and an entry moves only what its type may. One function instead of many checks: the text of
-- each check constraint is parsed anew by every batch.
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

-- Draws credits into a new or an existing purse: up to the wanted amount, at most a quarter of what no purse has set
-- aside. Returns how much, 0 where it would be too little or a grant expires soon, null where the purse has been
-- recalled.
CREATE OR REPLACE FUNCTION public.ledger_fill_purse(purse_id uuid, is_new boolean, new_account_id text, new_process_id text, wanted bigint, enough bigint, until timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  added bigint;
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- A purse does not know which credits expire, or when.
  if exists (select from grants where account_id = new_account_id and spendable and expires_at <= until) then
    return 0;
  end if;
  select least(wanted, (available - (select coalesce(sum(amount), 0) from purses where account_id = new_account_id)) / 4)
    into added from balances where account_id = new_account_id;
  if added is null or added < enough then return 0; end if;
  if is_new then
    insert into purses (id, account_id, process_id, amount) values (purse_id, new_account_id, new_process_id, added);
  else
    update purses set amount = amount + added where id = purse_id;
    if not found then return null; end if;
  end if;
  return added;
end $function$;

-- Grants credits. Returns "granted", "unknown" (no such account) or "duplicate" (reference used before).
CREATE OR REPLACE FUNCTION public.ledger_grant(moment timestamp with time zone, new_id text, new_account_id text, new_amount bigint, new_source text, new_reference text, new_expires_at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- What was reserved before is paid from what was granted before.
  perform ledger_post(array[new_account_id]);
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

-- The entries that rows of the journal become; those of type "reserve" with what their reservation has. Reads only:
-- ledger_post inserts them, and the views show them before that. It cannot fail for want of credits: purses have set
-- them aside, and should they be gone nevertheless, less is reserved and the settlement is charged in full. Most
-- reservations are paid from one grant, and then no array is taken apart: this is most of what a call costs the
-- database.
CREATE OR REPLACE FUNCTION public.ledger_journal_entries(lines ledger_journal[])
 RETURNS TABLE(account_id text, number bigint, type text, available bigint, reserved bigint, charged bigint, balance bigint, created_at timestamp with time zone, reservation_id uuid, grant_ids text[], parts bigint[], units json, reserved_at timestamp with time zone, lease_until timestamp with time zone, owner text, purse_id uuid, drawn bigint, key_id text, request_id text, model text, endpoint text, price_id uuid)
 LANGUAGE plpgsql
 STABLE
AS $function$
#variable_conflict use_column
declare
  account_ids text[] := array(select distinct line.account_id from unnest(lines) as line);
begin
  return query
  with changes as materialized (
    select line.account_id, line.purse_id, line.owner,
      row_number() over (order by line.number, change.ordinality) as position, change.kind, change.id, change.amount,
      to_timestamp(change.at_ms::float8 / 1000) as at, to_timestamp(change.lease_ms::float8 / 1000) as lease_until,
      change.key_id, change.request_id, change.model, change.endpoint, change.price_id, change.units
    from unnest(lines) as line
    cross join lateral json_populate_recordset(null::ledger_change, line.changes) with ordinality as change
  ),
  -- The reserved credits laid end to end, beside the credits of the grants in spending order: where the two intervals
  -- overlap, the reservation is paid from the grant.
  new_reservations as (
    select *, (sum(amount) over earlier - amount)::bigint as starts_at, (sum(amount) over earlier)::bigint as ends_at
    from changes
    where kind = 'reserve' and (select r.id from reservations r where r.id = changes.id) is null
    window earlier as (partition by account_id order by position)
  ),
  spendable as materialized (
    select account_id, id as grant_id, row_number() over sooner as turn,
      (sum(remaining) over sooner - remaining)::bigint as starts_at, (sum(remaining) over sooner)::bigint as ends_at
    from grants where account_id = any (account_ids) and spendable
    window sooner as (partition by account_id order by expires_at, number)
  ),
  reservations_split as materialized (
    select new.*, coalesce(split.amount, 0) as reserved, coalesce(split.grant_ids, '{}') as grant_ids,
      coalesce(split.parts, '{}') as parts
    from new_reservations new cross join lateral (
      select sum(part)::bigint as amount, array_agg(grant_id order by turn) as grant_ids,
        array_agg(part order by turn) as parts
      from (
        select grant_id, turn, least(spendable.ends_at, new.ends_at) - greatest(spendable.starts_at, new.starts_at) as part
        from spendable where spendable.account_id = new.account_id
      ) as overlap
      where part > 0
    ) as split
  ),
  -- A reservation that begins here is the first change of its id. A window finds it in the order of n log n, where a join of
  -- the two lists would compare each with each.
  by_id as (
    select *, first_value(reserved) over same_id as begun_amount, first_value(grant_ids) over same_id as begun_grant_ids,
      first_value(parts) over same_id as begun_parts
    from (
      select account_id, position, kind, id, amount, at, units, reserved, grant_ids, parts from reservations_split
      union all
      select account_id, position, kind, id, amount, at, units, null, null, null from changes where kind <> 'reserve'
    ) as change
    window same_id as (partition by id order by position)
  ),
  -- Of several endings of one reservation the first counts.
  endings as materialized (
    select distinct on (id) *, least(actual, reserved) as covered
    from (
      select by_id.account_id, by_id.position, by_id.id, by_id.at, by_id.units, by_id.kind,
        case by_id.kind when 'settle' then by_id.amount else 0 end as actual,
        coalesce(begun_amount, r.amount) as reserved, coalesce(begun_grant_ids, r.grant_ids) as grant_ids,
        coalesce(begun_parts, r.parts) as parts
      from by_id
      left join open_reservations on open_reservations.reservation_id = by_id.id
      left join reservations r on r.id = open_reservations.reservation_id
      where by_id.kind <> 'reserve' and (begun_amount is not null or r.id is not null)
    ) as ending
    order by id, position
  ),
  entries as (
    select account_id, position, 1 as step, 'reserve' as type, -reserved as available, reserved, 0::bigint as charged, at,
      id, grant_ids, case cardinality(parts) when 1 then array[-parts[1]]
        else array(select -part from unnest(parts) as part) end as parts, null::json as units,
      lease_until, owner, purse_id, amount as drawn, key_id, request_id, model, endpoint, price_id
    from reservations_split
    union all
    select account_id, position, 2, kind, reserved - covered, -reserved, covered, at, id, grant_ids,
      case cardinality(parts) when 1 then array[parts[1] - covered] else ledger_returned(parts, covered) end, units,
      null, null, null, null, null, null, null, null, null
    from endings
    union all
    select account_id, position, 3, 'charge', reserved - actual, 0, actual - reserved, at, id, '{}', '{}', null,
      null, null, null, null, null, null, null, null, null
    from endings where actual > reserved
  )
  select entries.account_id, b.entries + row_number() over so_far, entries.type, entries.available, entries.reserved,
    entries.charged, (b.available + sum(entries.available) over so_far)::bigint,
    greatest(b.updated_at, max(entries.at) over so_far), entries.id, entries.grant_ids, entries.parts, entries.units,
    entries.at, entries.lease_until, entries.owner, entries.purse_id, entries.drawn, entries.key_id, entries.request_id,
    entries.model, entries.endpoint, entries.price_id
  from entries join balances b on b.account_id = entries.account_id
  window so_far as (partition by entries.account_id order by entries.position, entries.step);
end $function$;

-- Takes the remainders of expired grants out of the balance, after recalling the purses that may spend them. Runs after
-- credits came in or back and before any are taken: an expired grant never pays, and a refund into one lapses at once.
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
  -- What was reserved of them before this moment stays reserved.
  delete from purses where account_id = any (expiring);
  perform ledger_post(expiring);

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

-- Lapses and covers what is due, whenever an account was changed. Both are rare, and the checks cost less than running
-- them.
CREATE OR REPLACE FUNCTION public.ledger_lapse_and_cover(moment timestamp with time zone, account_ids text[])
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

-- Lapses expired grants of accounts without traffic, in batches. Returns how many accounts it processed; those that
-- another transaction has locked are left out.
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

-- Locks accounts in the order of their ids, which excludes deadlocks, and returns those that it did not get. Lock mode
-- "skip" leaves out accounts that another transaction has locked; "wait" waits for the connection's lock_timeout.
CREATE OR REPLACE FUNCTION public.ledger_lock(account_ids text[], lock_mode text)
 RETURNS text[]
 LANGUAGE plpgsql
AS $function$
declare
  locked text[];
begin
  if lock_mode = 'skip' then
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update skip locked);
  else
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update);
  end if;
  if cardinality(locked) = cardinality(account_ids) then return '{}'; end if;
  return array(select account_id from balances
    where account_id = any (account_ids) and account_id <> all (locked));
end $function$;

-- Inserts the balance of a new account, so that there is a row to lock.
CREATE OR REPLACE FUNCTION public.ledger_open_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into balances (account_id, updated_at) values (new.id, new.created_at);
  return null;
end $function$;

-- Inserts the spending of a new API key or OAuth grant.
CREATE OR REPLACE FUNCTION public.ledger_open_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into key_spending (key_id, day, week, month) values (new.id, period_start('day', new.created_at),
    period_start('week', new.created_at), period_start('month', new.created_at));
  return null;
end $function$;

-- Posts the journal of locked accounts: deletes its rows and inserts the entries, reservations and prices that they
-- become.
CREATE OR REPLACE FUNCTION public.ledger_post(account_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return; end if;

  with lines as (
    delete from ledger_journal where account_id = any (account_ids) returning ledger_journal as line
  ),
  posted as materialized (
    select * from ledger_journal_entries(array(select line from lines))
  ),
  new_prices as (
    insert into prices select distinct on (price.key) price.key::uuid, price.value
    from lines cross join lateral json_each((lines.line).prices) as price
    order by price.key
    on conflict do nothing
  ),
  new_entries as (
    insert into ledger_entries
      (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
      grant_ids, parts, units)
    select account_id, number, type, 0, available, reserved, charged, 0, balance, created_at, reservation_id,
      grant_ids, parts, units
    from posted
  ),
  new_reservations as (
    insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint,
      price_id)
    select reservation_id, reserved, reserved_at, account_id, key_id, grant_ids,
      case cardinality(parts) when 1 then array[-parts[1]] else array(select -part from unnest(parts) as part) end,
      request_id, model, endpoint, price_id
    from posted where type = 'reserve'
  ),
  opened as (
    insert into open_reservations (reservation_id, owner, lease_until)
    select reservation_id, owner, lease_until from posted
    where type = 'reserve'
      and reservation_id not in (select reservation_id from posted where type in ('settle', 'refund'))
  ),
  closed as (
    delete from open_reservations
    where reservation_id = any (array(select reservation_id from posted where type in ('settle', 'refund')))
  )
  update purses set amount = purses.amount - drawn.amount
  from (
    select purse_id, sum(drawn)::bigint as amount from posted where type = 'reserve' group by purse_id
  ) as drawn
  where purses.id = drawn.purse_id;
end $function$;

-- Posts the journal of these accounts under their locks. Returns how many accounts it posted.
CREATE OR REPLACE FUNCTION public.ledger_post_journal(account_ids text[], lock_mode text)
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
  busy := ledger_lock(account_ids, lock_mode);
  if busy <> '{}' then account_ids := array(select unnest(account_ids) except select unnest(busy)); end if;
  perform ledger_post(account_ids);
  -- At the account's own time.
  perform ledger_lapse_and_cover('-infinity', account_ids);
  return cardinality(account_ids);
end $function$;

-- The same for any accounts with a journal, without those that another transaction has locked: a loop that ends with
-- the first incomplete batch ends.
CREATE OR REPLACE FUNCTION public.ledger_post_some(accounts_max integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
begin
  return ledger_post_journal(array(select distinct account_id from ledger_journal limit accounts_max), 'skip');
end $function$;

-- Recalls the purses of locked accounts that would otherwise lack the credits for these changes: for reservations, or
-- for charges above the reserved amount. What the purses' processes had written until then is posted.
CREATE OR REPLACE FUNCTION public.ledger_recall(locked text[], changes ledger_change[])
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
        select account_id, amount from unnest(changes) as change where kind = 'reserve'
        union all
        select r.account_id, change.amount - r.amount
        from unnest(changes) as change join reservations r on r.id = change.id
        where change.kind = 'settle' and change.amount > r.amount
      ) as need
      group by account_id
    ) as needed
    join balances b using (account_id)
    where b.available - (select coalesce(sum(p.amount), 0) from purses p where p.account_id = needed.account_id)
      < needed.amount);
  if found then perform ledger_post(locked); end if;
end $function$;

-- Refuses the statement.
CREATE OR REPLACE FUNCTION public.ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name;
end $function$;

-- Reserves credits of locked accounts: admits an account's changes in their order and splits each over the grants in
-- spending order. Answers each such change at its index: the split as [[grant ids], [parts]]; {"reason": "balance" or
-- "key_limit", "left": micro-credits} for a refusal; "busy", "unknown", or "conflict" for an id used with other values.
CREATE OR REPLACE FUNCTION public.ledger_reserve(moment timestamp with time zone, busy text[], changes ledger_change[], owner text, lease_until timestamp with time zone, answers json[])
 RETURNS json[]
 LANGUAGE plpgsql
AS $function$
declare
  change record;
  verdict text;
  amount bigint;
  current_account text := '';
  -- What the current account has left, and its grants in spending order, as earlier changes of the list leave them.
  balance bigint;
  number bigint;
  open_ids text[];
  open_parts bigint[];
  open_index integer;
  -- The lineages, and the keys and apps with a limit, met so far, and what the list has reserved for each. Keys of one
  -- lineage may have different limits, so the allowance is computed for each change.
  spenders text[] := '{}';
  spender_reserved bigint[] := '{}';
  spender_index integer;
  allowance bigint;
  to_split bigint;
  part bigint;
  split_ids text[];
  split_parts bigint[];
  entry_parts bigint[];
  new_reservations reservations[];
  new_entries ledger_entries[];
begin
  for change in
    select c.*, coalesce(c.late, false) as is_late, b.account_id is null as unknown, b.available, b.entries, greatest(moment, b.updated_at) as at,
      coalesce(api_keys.id, oauth_grants.id) is null as unknown_key,
      bound.amount - key_spending.held - case when bound.amount is null then 0 else
        spent_in_period(key_spending, bound.reset, greatest(moment, b.updated_at)) end
        - coalesce(siblings.used, 0) as allowance,
      coalesce(api_keys.lineage, case when bound.amount is not null then c.key_id end) as spender,
      earlier.id is not null as repeated, earlier.account_id = c.account_id and (coalesce(c.late, false) or earlier.amount = c.amount) as same,
      earlier.grant_ids, earlier.parts
    from unnest(changes) with ordinality as c
    left join balances b on b.account_id = c.account_id
    left join reservations earlier on earlier.id = c.id
    left join api_keys on api_keys.id = c.key_id and api_keys.account_id = c.account_id
    left join oauth_grants on oauth_grants.id = c.key_id and oauth_grants.account_id = c.account_id
    left join key_spending on key_spending.key_id = coalesce(api_keys.id, oauth_grants.id)
    cross join lateral (select coalesce(api_keys.credit_limit, oauth_grants.credit_limit),
      coalesce(api_keys.credit_limit_reset, oauth_grants.credit_limit_reset)) as bound (amount, reset)
    left join lateral (
      select sum(figures.held + spent_in_period(figures, bound.reset, greatest(moment, b.updated_at))) as used
      from api_keys sibling join key_spending figures on figures.key_id = sibling.id
      where bound.amount is not null and sibling.lineage = api_keys.lineage and sibling.id <> api_keys.id
    ) as siblings on true
    where c.kind = 'reserve'
    order by c.account_id, c.ordinality
  loop
    if change.account_id <> current_account then
      current_account := change.account_id;
      balance := change.available;
      number := change.entries;
      open_index := 1;
      select array_agg(id), array_agg(remaining) into open_ids, open_parts
      from (select id, remaining from grants where account_id = current_account and spendable
        order by expires_at, grants.number) as spending_order;
    end if;
    amount := case when change.is_late then least(change.amount, greatest(balance, 0)) else change.amount end;
    spender_index := null;
    if change.spender is not null then
      spender_index := array_position(spenders, change.spender);
      if spender_index is null then
        spenders := spenders || change.spender;
        spender_reserved := spender_reserved || 0::bigint;
        spender_index := cardinality(spenders);
      end if;
    end if;
    allowance := change.allowance - spender_reserved[spender_index];

    verdict := case
      when change.unknown or (change.key_id is not null and change.unknown_key) then 'unknown'
      when change.account_id = any (busy) then 'busy'
      when change.repeated then case when change.same then 'repeated' else 'conflict' end
      when balance < amount and not change.is_late then 'balance'
      when allowance < amount and not change.is_late then 'key_limit'
      else 'admitted' end;

    if verdict = 'repeated' then
      answers[change.ordinality] := json_build_array(change.grant_ids, change.parts);
    elsif verdict in ('balance', 'key_limit') then
      answers[change.ordinality] := json_build_object('reason', verdict, 'left',
        case when verdict = 'balance' then balance else allowance end);
    elsif verdict <> 'admitted' then
      answers[change.ordinality] := to_json(verdict);
    else
      number := number + 1;
      balance := balance - amount;
      if spender_index is not null then
        spender_reserved[spender_index] := spender_reserved[spender_index] + amount;
      end if;
      to_split := amount;
      split_ids := '{}';
      split_parts := '{}';
      entry_parts := '{}';
      while to_split > 0 loop
        part := least(coalesce(open_parts[open_index], 0), to_split);
        if part > 0 then
          split_ids := split_ids || open_ids[open_index];
          split_parts := split_parts || part;
          entry_parts := entry_parts || -part;
          open_parts[open_index] := open_parts[open_index] - part;
          to_split := to_split - part;
        elsif open_index > cardinality(open_parts) then
          raise exception 'the grants of % do not hold its balance', current_account;
        else
          open_index := open_index + 1;
        end if;
      end loop;
      new_reservations := new_reservations || row(change.id, amount, change.at, change.account_id, change.key_id, split_ids,
        split_parts, change.request_id, change.job_id, change.model, change.endpoint, change.price_id)::reservations;
      new_entries := new_entries || row(change.account_id, number, 'reserve', 0, -amount, amount, 0, 0, balance,
        change.at, change.id, split_ids, entry_parts, null)::ledger_entries;
      answers[change.ordinality] := json_build_array(split_ids, split_parts);
    end if;
  end loop;
  if new_reservations is not null then
    insert into reservations select new.* from unnest(new_reservations) as new;
    insert into open_reservations (reservation_id, owner, lease_until)
      select new.id, ledger_reserve.owner, ledger_reserve.lease_until from unnest(new_reservations) as new;
    insert into ledger_entries select entry.* from unnest(new_entries) as entry;
  end if;
  return answers;
end $function$;

-- What is returned to each grant of a split when this much of it is charged: the charge uses up the split from its
-- front.
CREATE OR REPLACE FUNCTION public.ledger_returned(parts bigint[], charged bigint)
 RETURNS bigint[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  to_charge bigint := charged;
  charged_part bigint;
begin
  for index in 1 .. cardinality(parts) loop
    charged_part := least(parts[index], to_charge);
    to_charge := to_charge - charged_part;
    parts[index] := parts[index] - charged_part;
  end loop;
  return parts;
end $function$;

-- Takes unspent credits back from the grants in spending order. Returns "revoked", "unknown", "duplicate" or "short";
-- after "short" the transaction must be rolled back. The first grant of the entry is the new row itself, with a part of
-- 0, to name the revocation that it belongs to.
CREATE OR REPLACE FUNCTION public.ledger_revoke(moment timestamp with time zone, new_id text, new_account_id text, revoked bigint, new_source text, new_reference text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  if not exists (select from balances where account_id = new_account_id) then return 'unknown'; end if;

  -- Before the balance is checked: a repeat is answered as a duplicate, not with a balance that lacks the credits.
  insert into grants (id, account_id, amount, source, reference, created_at)
    values (new_id, new_account_id, -revoked, new_source, new_reference, moment)
    on conflict (reference) do nothing;
  if not found then return 'duplicate'; end if;

  -- Purses first: once they are deleted, no line can be written that is not posted here.
  delete from purses where account_id = new_account_id;
  perform ledger_post(array[new_account_id]);
  perform ledger_lapse_and_cover(moment, array[new_account_id]);
  if (select available from balances where account_id = new_account_id) < revoked then return 'short'; end if;

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + 1, 'revoke', -revoked, -revoked, 0, 0, 0, available - revoked, greatest(moment, updated_at),
    new_id || split.grant_ids, 0::bigint || split.parts
  from balances cross join (
    select array_agg(grant_id order by place) as grant_ids,
      array_agg(-least(remaining, revoked - before) order by place) as parts
    from (
      select id as grant_id, remaining, row_number() over spending as place,
        (sum(remaining) over spending - remaining)::bigint as before
      from grants where account_id = new_account_id and spendable
      window spending as (order by expires_at, number)
    ) as payer
    where before < revoked
  ) as split
  where account_id = new_account_id;
  return 'revoked';
end $function$;

-- First day of the current day, week (from Monday) or month of the UTC calendar.
CREATE OR REPLACE FUNCTION public.period_start(period text, at timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE
RETURN (date_trunc(period, (at AT TIME ZONE 'UTC'::text)))::date;

-- What a credential has spent in the period that is current at a time; without a period, ever.
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

-- The balance of every account now. What has expired counts as lapsed, whether or not its entry has been made.
create view balances_now as
 WITH unposted AS MATERIALIZED (
         SELECT ledger_unposted_entries.account_id,
            ledger_unposted_entries.available,
            ledger_unposted_entries.reserved,
            ledger_unposted_entries.charged,
            ledger_unposted_entries.grant_ids,
            ledger_unposted_entries.parts
           FROM ledger_unposted_entries
        ), moved AS (
         SELECT unposted.account_id,
            sum(unposted.available)::bigint AS available,
            sum(unposted.reserved)::bigint AS reserved,
            sum(unposted.charged)::bigint AS charged
           FROM unposted
          GROUP BY unposted.account_id
        ), expired AS (
         SELECT part.account_id,
            sum(part.remaining)::bigint AS amount
           FROM ( SELECT g.account_id,
                    g.remaining
                   FROM grants g
                     JOIN balances b_1 USING (account_id)
                  WHERE g.spendable AND g.expires_at <= GREATEST(now(), b_1.updated_at)
                UNION ALL
                 SELECT g.account_id,
                    split.part
                   FROM unposted
                     CROSS JOIN LATERAL UNNEST(unposted.grant_ids, unposted.parts) split(grant_id, part)
                     JOIN grants g ON g.id = split.grant_id
                     JOIN balances b_1 ON b_1.account_id = g.account_id
                  WHERE g.expires_at <= GREATEST(now(), b_1.updated_at)) part
          GROUP BY part.account_id
        )
 SELECT b.account_id,
    b.granted,
    b.available + COALESCE(moved.available, 0::bigint) - COALESCE(expired.amount, 0::bigint) AS available,
    b.reserved + COALESCE(moved.reserved, 0::bigint) AS reserved,
    b.charged + COALESCE(moved.charged, 0::bigint) AS charged,
    b.lapsed + COALESCE(expired.amount, 0::bigint) AS lapsed
   FROM balances b
     LEFT JOIN moved ON moved.account_id = b.account_id
     LEFT JOIN expired ON expired.account_id = b.account_id;

-- Grants with what remains of them now; nothing does of an expired one.
create view grants_now as
 SELECT grants.id,
    grants.account_id,
    grants.amount,
        CASE
            WHEN grants.expires_at <= now() THEN 0::bigint
            ELSE grants.remaining + COALESCE(unposted.part, 0::bigint)
        END AS remaining,
    grants.source,
    grants.reference,
    grants.expires_at,
    grants.created_at
   FROM grants
     LEFT JOIN ( SELECT split.grant_id,
            sum(split.part)::bigint AS part
           FROM ledger_unposted_entries entry
             CROSS JOIN LATERAL UNNEST(entry.grant_ids, entry.parts) split(grant_id, part)
          GROUP BY split.grant_id) unposted ON unposted.grant_id = grants.id;

-- ledger_entries with those that still stand in the journal. Numbers and balances of the latter may shift until they
-- are posted.
create view ledger_entries_now as
 SELECT ledger_entries.account_id,
    ledger_entries.number,
    ledger_entries.type,
    ledger_entries.granted,
    ledger_entries.available,
    ledger_entries.reserved,
    ledger_entries.charged,
    ledger_entries.lapsed,
    ledger_entries.balance,
    ledger_entries.created_at,
    ledger_entries.reservation_id,
    ledger_entries.grant_ids,
    ledger_entries.parts,
    ledger_entries.units
   FROM ledger_entries
UNION ALL
 SELECT ledger_unposted_entries.account_id,
    ledger_unposted_entries.number,
    ledger_unposted_entries.type,
    0 AS granted,
    ledger_unposted_entries.available,
    ledger_unposted_entries.reserved,
    ledger_unposted_entries.charged,
    0 AS lapsed,
    ledger_unposted_entries.balance,
    ledger_unposted_entries.created_at,
    ledger_unposted_entries.reservation_id,
    ledger_unposted_entries.grant_ids,
    ledger_unposted_entries.parts,
    ledger_unposted_entries.units
   FROM ledger_unposted_entries;

-- The entries that the journal will become when it is posted.
create view ledger_unposted_entries as
 SELECT account_id,
    number,
    type,
    available,
    reserved,
    charged,
    balance,
    created_at,
    reservation_id,
    grant_ids,
    parts,
    units,
    reserved_at,
    lease_until,
    owner,
    purse_id,
    drawn,
    key_id,
    request_id,
    model,
    endpoint,
    price_id
   FROM ledger_journal_entries(ARRAY( SELECT line.*::ledger_journal AS line
           FROM ledger_journal line)) entry(account_id, number, type, available, reserved, charged, balance, created_at, reservation_id, grant_ids, parts, units, reserved_at, lease_until, owner, purse_id, drawn, key_id, request_id, model, endpoint, price_id);

-- Every reservation with how it stands: open, settled or refunded, what was charged, and when it ended.
create view reservations_now as
 WITH unposted AS MATERIALIZED (
         SELECT ledger_unposted_entries.account_id,
            ledger_unposted_entries.type,
            ledger_unposted_entries.reserved,
            ledger_unposted_entries.charged,
            ledger_unposted_entries.created_at,
            ledger_unposted_entries.reservation_id,
            ledger_unposted_entries.reserved_at,
            ledger_unposted_entries.key_id,
            ledger_unposted_entries.request_id,
            ledger_unposted_entries.model,
            ledger_unposted_entries.endpoint,
            ledger_unposted_entries.price_id
           FROM ledger_unposted_entries
        ), begun AS (
         SELECT r.id,
            r.account_id,
            r.key_id,
            r.amount,
            r.created_at,
            r.request_id,
            r.job_id,
            r.model,
            r.endpoint,
            prices.price
           FROM reservations r
             LEFT JOIN prices ON prices.id = r.price_id
        UNION ALL
         SELECT unposted_1.reservation_id,
            unposted_1.account_id,
            unposted_1.key_id,
            unposted_1.reserved,
            unposted_1.reserved_at,
            unposted_1.request_id,
            NULL::text,
            unposted_1.model,
            unposted_1.endpoint,
            ( SELECT line.prices -> unposted_1.price_id::text
                   FROM ledger_journal line
                  WHERE (line.prices -> unposted_1.price_id::text) IS NOT NULL
                 LIMIT 1)
           FROM unposted unposted_1
          WHERE unposted_1.type = 'reserve'::text
        )
 SELECT begun.id,
    begun.account_id,
    begun.key_id,
    begun.amount,
    begun.created_at,
    begun.request_id,
    begun.job_id,
    begun.model,
    begun.endpoint,
    begun.price,
        CASE COALESCE(posted.type, unposted.type)
            WHEN 'settle'::text THEN 'settled'::text
            WHEN 'refund'::text THEN 'refunded'::text
            ELSE 'open'::text
        END AS status,
    COALESCE(posted.charged, unposted.charged, 0::bigint) AS charged,
    COALESCE(posted.ended_at, unposted.ended_at) AS ended_at
   FROM begun
     LEFT JOIN LATERAL ( SELECT max(ledger_entries.type) FILTER (WHERE ledger_entries.type <> 'charge'::text) AS type,
            sum(ledger_entries.charged)::bigint AS charged,
            max(ledger_entries.created_at) AS ended_at
           FROM ledger_entries
          WHERE ledger_entries.reservation_id = begun.id AND ledger_entries.type <> 'reserve'::text
         HAVING count(*) > 0) posted ON true
     LEFT JOIN ( SELECT unposted_1.reservation_id,
            max(unposted_1.type) FILTER (WHERE unposted_1.type <> 'charge'::text) AS type,
            sum(unposted_1.charged)::bigint AS charged,
            max(unposted_1.created_at) AS ended_at
           FROM unposted unposted_1
          WHERE unposted_1.type <> 'reserve'::text
          GROUP BY unposted_1.reservation_id) unposted ON unposted.reservation_id = begun.id;

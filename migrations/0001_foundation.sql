-- Who runs, who calls, what is sold, and who changed it.

-- Live processes of this deployment. Liveness is judged by the database's own time: processes on several machines
-- must agree on it, and it must not jump with the test clock.
create table processes (
  id text primary key,
  started_at timestamptz not null,
  last_seen timestamptz not null
);

-- The offset of the test clock; at most one row.
create table test_clock (
  only_row boolean primary key default true check (only_row),
  offset_ms bigint not null check (offset_ms >= 0)
);

create table accounts (
  id text primary key,
  name text not null,
  email text,
  password_hash text,
  status text not null default 'active' check (status in ('active', 'suspended')),
  groups text[] not null check (cardinality(groups) > 0),
  -- Limits of all access tokens of the account together; null takes the deployment's default.
  rpm integer check (rpm > 0),
  concurrency integer check (concurrency > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index accounts_email on accounts (lower(email));
create index accounts_newest on accounts (created_at desc, id desc);

create table api_keys (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  -- SHA-256 of the whole key, and the first four characters of its random part: all that is kept of it.
  digest bytea not null,
  prefix text not null check (length(prefix) = 4),
  -- Null means the account's groups.
  groups text[] check (cardinality(groups) > 0),
  rpm integer check (rpm > 0),
  concurrency integer check (concurrency > 0),
  credit_limit bigint check (credit_limit >= 0),
  credit_limit_reset text check (credit_limit_reset in ('day', 'week', 'month')),
  expires_at timestamptz,
  disabled boolean not null default false,
  last_used_at timestamptz,
  created_at timestamptz not null,
  -- A deleted key keeps its row so that old usage still names it; it no longer counts as live.
  deleted_at timestamptz
);
create unique index api_keys_digest on api_keys (digest);
create index api_keys_of_account on api_keys (account_id, created_at desc, id desc);

-- Every configuration that was ever in force. The newest is.
create table config_versions (
  version bigint generated always as identity primary key,
  -- 'file', 'built-in' or 'operator'.
  source text not null,
  -- As written, with ${NAME} references; literal secrets are masked.
  document json not null,
  -- Upstream id to secret, each sealed with the deployment's root secret.
  sealed_secrets json not null,
  -- A keyed digest of document and secrets: equal means nothing changed.
  digest text not null,
  applied_at timestamptz not null
);

-- When each public model name was first sold. Rows outlive the model.
create table models (
  id text primary key,
  created_at timestamptz not null
);

-- The public list's content digest and since when it holds; at most one row.
create table public_list (
  only_row boolean primary key default true check (only_row),
  digest text not null,
  updated_at timestamptz not null
);

create table oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  scopes text[] not null check (cardinality(scopes) > 0),
  -- Null for a public client, which proves itself by PKCE alone.
  secret_digest bytea,
  created_at timestamptz not null
);

-- Written in the transaction of the change that it tells of.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  detail json not null,
  request_id text
);

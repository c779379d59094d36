-- Accounts, which pay, and the API keys by which they call.

create table accounts (
  id text primary key,
  name text not null,
  email text,
  status text not null default 'active' check (status in ('active', 'suspended')),
  groups text[] not null check (cardinality(groups) > 0),
  rpm integer check (rpm > 0),
  concurrency integer check (concurrency > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table accounts is 'Who pays: the owner of keys, grants of credits, jobs and files.';
comment on column accounts.email is 'For operators to find the account by; people sign in with their own.';
comment on column accounts.groups is 'Routing groups: which upstreams serve the account.';
comment on column accounts.rpm is
  'Requests per minute of app tokens and of the console; null takes the deployment''s default.';
comment on column accounts.concurrency is
  'Concurrent requests of app tokens and of the console; null takes the deployment''s default.';

create unique index accounts_email on accounts (lower(email));
create index accounts_newest on accounts (created_at desc, id desc);

create table api_keys (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  digest bytea not null,
  prefix text not null check (length(prefix) = 4),
  groups text[] check (cardinality(groups) > 0),
  rpm integer check (rpm > 0),
  concurrency integer check (concurrency > 0),
  credit_limit bigint check (credit_limit >= 0),
  credit_limit_reset text check (credit_limit_reset in ('day', 'week', 'month')),
  expires_at timestamptz,
  disabled boolean not null default false,
  last_used_at timestamptz,
  created_at timestamptz not null,
  lineage text,
  deleted_at timestamptz
);
comment on table api_keys is 'API keys of accounts, as digests.';
comment on column api_keys.digest is 'SHA-256 of the whole key, by which a request''s key is found.';
comment on column api_keys.prefix is 'First four characters of the random part, to recognise the key by.';
comment on column api_keys.groups is 'Routing groups; null takes the account''s.';
comment on column api_keys.rpm is 'Requests per minute; null takes the deployment''s default.';
comment on column api_keys.concurrency is 'Concurrent requests; null takes the deployment''s default.';
comment on column api_keys.credit_limit is 'Micro-credits that may be spent in all or per period; null is no limit.';
comment on column api_keys.credit_limit_reset is
  'Period of the limit by the UTC calendar; null counts from the beginning.';
comment on column api_keys.expires_at is 'Null never expires.';
comment on column api_keys.lineage is
  'The first of the keys that replaced each other by rolling, whose spending counts together; null for a key never rolled.';
comment on column api_keys.deleted_at is 'A deleted key keeps its row, so that earlier usage can name it.';

create unique index api_keys_digest on api_keys (digest);
create index api_keys_of_lineage on api_keys (lineage) where lineage is not null;
create index api_keys_of_account on api_keys (account_id, created_at desc, id desc);

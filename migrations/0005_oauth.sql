-- Apps that act for people: clients, what people granted them, and the authorization server's own records.

create table oauth_clients (
  id text primary key,
  name text not null,
  home_page text,
  logo text,
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  scopes text[] not null check (cardinality(scopes) > 0),
  secret_digest bytea,
  device_flow boolean not null default false,
  introspection boolean not null default false,
  created_at timestamptz not null,
  deleted_at timestamptz
);
comment on table oauth_clients is 'Third-party applications that are registered with the authorization server.';
comment on column oauth_clients.secret_digest is 'Null for a public client, which proves itself by PKCE alone.';
comment on column oauth_clients.scopes is 'The most that a person can grant the client.';
comment on column oauth_clients.device_flow is 'May use the device flow; every client may use the code flow.';
comment on column oauth_clients.introspection is 'May ask what a token is worth.';
comment on column oauth_clients.deleted_at is 'A deleted client keeps its row, for the grants that name it.';

create table oauth_grants (
  id text primary key,
  client_id text not null references oauth_clients,
  account_id text not null references accounts,
  person_id text not null references people,
  scopes text[] not null check (cardinality(scopes) > 0),
  credit_limit bigint check (credit_limit >= 0),
  credit_limit_reset text check (credit_limit_reset in ('day', 'week', 'month')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
comment on table oauth_grants is
  'What a person lets a client do with an account. One unrevoked grant per client, account and person, so its limit '
  'bounds the client on all of the person''s devices.';
comment on column oauth_grants.account_id is 'Pays for the calls.';
comment on column oauth_grants.credit_limit is
  'Micro-credits that may be spent in all or per period; null is no limit.';
comment on column oauth_grants.credit_limit_reset is
  'Period of the limit by the UTC calendar; null counts from the beginning.';

create unique index oauth_grants_live on oauth_grants (client_id, account_id, person_id) where revoked_at is null;
create index oauth_grants_of_account on oauth_grants (account_id, created_at desc, id desc);
create index oauth_grants_of_person on oauth_grants (person_id);

create table oauth_records (
  kind text not null,
  digest bytea not null,
  payload json not null,
  grant_id text references oauth_grants,
  user_code_digest bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  primary key (kind, digest)
);
comment on table oauth_records is
  'Codes, tokens and whatever else the authorization server stores. Of each secret there is only a digest; the '
  'payload does not repeat it.';
comment on column oauth_records.kind is
  'The server''s name for it: AuthorizationCode, AccessToken, RefreshToken, DeviceCode, Interaction, Session.';
comment on column oauth_records.digest is 'SHA-256 of the code, token or id by which it is looked up.';
comment on column oauth_records.payload is 'As the server wrote it. Never searched.';
comment on column oauth_records.user_code_digest is 'SHA-256 of the code that a person types in the device flow.';
comment on column oauth_records.consumed_at is 'When a code or refresh token was used.';

create index oauth_records_of_grant on oauth_records (grant_id) where grant_id is not null;
create unique index oauth_records_user_code on oauth_records (kind, user_code_digest) where user_code_digest is not null;
create index oauth_records_expired on oauth_records (expires_at);

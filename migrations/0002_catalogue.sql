-- The catalogue: configurations in force, what is sold, and the health of upstreams.

create table config_versions (
  version bigint generated always as identity primary key,
  source text not null,
  document json not null,
  sealed_secrets json not null,
  digest text not null,
  applied_at timestamptz not null,
  actor text not null,
  change_count integer not null check (change_count >= 0)
);
comment on table config_versions is 'Every configuration that was ever in force; the newest version is.';
comment on column config_versions.source is '"file", "built-in" or "operator".';
comment on column config_versions.document is 'As written, with ${NAME} references; literal secrets are masked.';
comment on column config_versions.sealed_secrets is
  'Upstream id to secret, each encrypted under the deployment''s root secret.';
comment on column config_versions.actor is 'Operator, person or part of the program that applied it, as in the audit.';
comment on column config_versions.change_count is 'Lines of a comparison with the version before it.';
comment on column config_versions.digest is
  'Keyed digest of document and secrets: an equal one means that nothing changed.';

create table models (
  id text primary key,
  created_at timestamptz not null
);
comment on table models is
  'When each public model name was first sold. Rows outlive the model, so a name keeps its date.';

create table public_list (
  only_row boolean primary key default true check (only_row),
  digest text not null,
  updated_at timestamptz not null
);
comment on table public_list is 'Digest of the public price list, for its modification date; at most one row.';
comment on column public_list.updated_at is 'When the list last became another.';

create table upstream_breakers (
  upstream_id text not null,
  upstream_model text not null,
  strikes integer not null check (strikes >= 0),
  trips integer not null check (trips >= 0),
  opened_at timestamptz,
  open_until timestamptz,
  has_retry_after boolean not null,
  last_fault text,
  last_detail text,
  last_fault_at timestamptz,
  primary key (upstream_id, upstream_model)
);
comment on table upstream_breakers is
  'Circuit breakers, shared by all processes: one per upstream and model on its wire, so that a failing model does '
  'not close its upstream''s others. Written only on a change of state, so a healthy upstream costs nothing.';
comment on column upstream_breakers.upstream_model is 'Empty for the upstream as a whole: its credential, its balance.';
comment on column upstream_breakers.strikes is 'Consecutive failed requests before it opened.';
comment on column upstream_breakers.trips is 'Openings without a success in between; each doubles the next open time.';
comment on column upstream_breakers.open_until is 'Null while the breaker is closed.';
comment on column upstream_breakers.has_retry_after is
  'The upstream named open_until itself (Retry-After): no probe is sent before it.';
comment on column upstream_breakers.last_detail is
  'The upstream''s own words with secrets redacted, for operators only.';

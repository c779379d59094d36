-- Health is kept for each upstream and model on its wire: a model that fails must not take the others of its upstream
-- away. What was known about upstreams as a whole is forgotten, which closes every breaker once.
drop table upstream_health;

create table upstream_breakers (
  upstream_id text not null,
  -- Empty for the upstream as a whole: its credential, its balance.
  upstream_model text not null,
  -- Requests that failed in a row before it opened.
  strikes integer not null check (strikes >= 0),
  -- Openings without a success in between; each doubles the time of the next.
  trips integer not null check (trips >= 0),
  opened_at timestamptz,
  -- Null while it is closed.
  open_until timestamptz,
  -- The upstream named the time itself: nothing is sent before it.
  is_told boolean not null,
  last_fault text,
  -- The upstream's own words without secrets, for the operator only.
  last_detail text,
  last_fault_at timestamptz,
  primary key (upstream_id, upstream_model)
);

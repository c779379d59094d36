-- How each upstream is doing, shared by all processes. A row is written only when something changes: a healthy upstream
-- costs nothing.
create table upstream_health (
  upstream_id text primary key,
  -- Faults in a row; each doubles the next cooldown.
  strikes integer not null check (strikes >= 0),
  cooling_until timestamptz,
  last_fault text,
  -- The upstream's own words, for the operator only.
  last_detail text,
  last_fault_at timestamptz
);

-- A caller asks for its request by the id it was told.
create index reservations_by_request on reservations (request_id, account_id);

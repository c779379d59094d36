-- The deployment: its processes, its clock, and the record of every change.
--
-- Time is given by the program in every statement, from its one clock; `processes` alone uses the database's own.

comment on table migrations is
  'Migrations that were applied to this database, each in the transaction of its row. Made by the migrator itself.';
comment on column migrations.digest is 'SHA-256 of the text, by which a database of another history is recognised.';
comment on column migrations.needs is
  'Oldest release whose processes work on a database that has this migration; null for one that only adds.';

create table processes (
  id text primary key,
  started_at timestamptz not null,
  last_seen timestamptz not null,
  role text not null check (role in ('both', 'serve', 'work'))
);
comment on table processes is
  'Live processes of this deployment. Liveness is judged by the database''s own time: processes on several machines '
  'must agree on it, and it must not jump with the test clock.';

comment on column processes.role is 'Whether it answers callers, works on jobs and duties of the deployment, or does both.';

create table test_clock (
  only_row boolean primary key default true check (only_row),
  offset_ms bigint not null check (offset_ms >= 0)
);
comment on table test_clock is 'Offset of the test clock, shared by all processes; at most one row.';

create unlogged table write_probe (
  filler text not null
);
alter table write_probe alter column filler set storage plain;
comment on table write_probe is
  'Target of the write probe, always empty: the probe writes a few pages into a new file of it and rolls back, which '
  'proves that the disk has room. Unlogged, so that the probe adds nothing to the write-ahead log.';
comment on column write_probe.filler is 'Stored plain: compressed, it would need no new page.';

create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  detail json not null,
  request_id text
);
comment on table audit is 'Record of every change, inserted in the transaction of the change.';
comment on column audit.actor is 'Operator, person or part of the program that made the change.';
comment on column audit.target is 'Id or name of what was changed.';
comment on column audit.detail is 'What is worth keeping of the change; never a secret. Never searched.';
comment on column audit.request_id is 'Null for a change that was made without a request.';

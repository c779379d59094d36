-- Usage added up by the hour, which reports read instead of the entries of months.

create table usage_hours (
  account_id text not null,
  hour timestamptz not null,
  key_id text not null,
  model text not null,
  endpoint text not null,
  requests bigint not null,
  credits bigint not null,
  primary key (account_id, hour, key_id, model, endpoint)
) with (fillfactor = 70);
comment on table usage_hours is
  'What was charged, added up from the entries that usage_progress counts. The later ones are not in it: whoever reports '
  'adds them.';
comment on column usage_hours.hour is 'Beginning of the hour in which the entries were made.';
comment on column usage_hours.key_id is 'An API key or an OAuth grant; empty for the console.';
comment on column usage_hours.requests is 'Those that were charged anything.';
comment on column usage_hours.credits is 'Micro-credits.';
create index usage_hours_by_time on usage_hours (hour);

create table usage_progress (
  account_id text primary key references accounts,
  entries bigint not null default 0,
  upto timestamptz not null default '-infinity'
) with (fillfactor = 70);
comment on table usage_progress is
  'How far each account''s usage is added up. The row is also the lock of whoever adds more.';
comment on column usage_progress.entries is 'Number of the last entry that usage_hours has.';
comment on column usage_progress.upto is
  'When that entry was made. An account''s later ones are not older, so they are found by an index of times.';

-- The ledger's tables. The truth is ledger_entries, which is append-only. Every other amount (grants.remaining,
-- balances, key_spending) is derived from it by one trigger, in the same transaction.
--
-- Amounts are micro-credits. An account's own time never runs backwards, whichever process's clock is ahead: an event
-- of an account happens at greatest(moment, balances.updated_at).

create table grants (
  id text primary key,
  number bigint generated always as identity,
  account_id text not null references accounts,
  amount bigint not null,
  remaining bigint not null default 0,
  spendable boolean generated always as (remaining > 0) stored,
  source text not null,
  reference text,
  expires_at timestamptz,
  created_at timestamptz not null,
  constraint grants_sound check (amount <> 0 and remaining between 0 and greatest(amount, 0))
) with (fillfactor = 50);
comment on table grants is
  'Credits given to an account. A negative amount revokes unspent credits of other grants; its own row never has a '
  'remainder.';
comment on column grants.number is 'Assigned under the account''s lock, so within an account it is the order of age.';
comment on column grants.remaining is 'Derived from the entries.';
comment on column grants.spendable is
  'In the indexes instead of remaining: it changes only when a grant is used up or refilled, so most updates are HOT.';
comment on column grants.source is 'Where the credits come from, in the operator''s words.';
comment on column grants.reference is 'Idempotency key of the payment: one payment cannot be granted twice.';
comment on column grants.expires_at is 'When the remainder lapses; null never expires.';

create unique index grants_reference on grants (reference);
create index grants_newest on grants (account_id, number desc);
create index grants_spending_order on grants (account_id, expires_at, number) where spendable;
comment on index grants_spending_order is
  'The spending order: soonest expiry first, never expiring last, then age. Partial, so that a long history of spent '
  'grants costs nothing.';
create index grants_expiring on grants (expires_at) where spendable;

create table balances (
  account_id text primary key references accounts,
  granted bigint not null default 0,
  available bigint not null default 0,
  reserved bigint not null default 0,
  charged bigint not null default 0,
  lapsed bigint not null default 0,
  debt bigint not null default 0,
  entries bigint not null default 0,
  updated_at timestamptz not null,
  constraint balances_granted_max check (granted <= 9000000000000000),
  constraint balances_sound check (
    granted = available + reserved + charged + lapsed and least(reserved, charged, lapsed, debt, available + debt) >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table balances is
  'Sums of an account''s entries, one row per account. The row is also the account''s lock: every change of its money '
  'holds the row lock until commit.';
comment on column balances.granted is 'Bounded below 2^53, so that every sum of an account is exact as a JSON number.';
comment on column balances.available is 'Remainders of the grants, less the debt.';
comment on column balances.debt is 'Charges that no grant has covered yet; the only way for available to be negative.';
comment on column balances.entries is 'Count of the account''s entries, which is the number of the last one.';
comment on column balances.updated_at is 'The account''s own time: when its last entry was made.';

create table key_spending (
  key_id text primary key,
  held bigint not null default 0,
  spent bigint not null default 0,
  day date not null,
  day_spent bigint not null default 0,
  week date not null,
  week_spent bigint not null default 0,
  month date not null,
  month_spent bigint not null default 0,
  constraint key_spending_sound check (least(held, spent, day_spent, week_spent, month_spent) >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table key_spending is
  'What each credential has spent, in all and in the current periods of the UTC calendar. Checked against '
  'credit_limit.';
comment on column key_spending.key_id is 'An API key or an OAuth grant, hence no foreign key.';
comment on column key_spending.held is 'Sum of its open reservations.';
comment on column key_spending.day is 'The day that day_spent counts.';
comment on column key_spending.week is 'First day (Monday) of the week that week_spent counts.';
comment on column key_spending.month is 'First day of the month that month_spent counts.';

create table prices (
  id uuid primary key,
  price json not null
);
comment on table prices is
  'Frozen prices, each stored once however many reservations were made at it. Rows are never changed or removed.';
comment on column prices.id is 'Digest of the text, made by the program.';
comment on column prices.price is 'Rates, ratios and tiers as they were in force. Never searched.';

create table reservations (
  id uuid primary key,
  amount bigint not null check (amount >= 0),
  created_at timestamptz not null,
  account_id text not null,
  key_id text,
  grant_ids text[] not null,
  parts bigint[] not null,
  request_id text not null,
  job_id text,
  model text not null,
  endpoint text not null,
  price_id uuid not null
);
comment on table reservations is
  'Credits reserved for one call or job. Rows are never updated, so a long history has no dead tuples. No foreign '
  'keys: every row is written by ledger functions that have account and key in hand, and the check would cost more '
  'than the insert.';
comment on column reservations.id is
  'Made by the program before the insert (UUID version 7, so that new rows are neighbours): a retry finds its own row.';
comment on column reservations.key_id is 'An API key or an OAuth grant; null for the console.';
comment on column reservations.grant_ids is 'The grants it was taken from, in spending order.';
comment on column reservations.parts is 'How much was taken from each of grant_ids.';
comment on column reservations.price_id is 'The price in force when the credits were reserved, in prices.';

create index reservations_by_request on reservations (request_id, account_id);
comment on index reservations_by_request is 'A caller looks its request up by the id in the answer.';
create index reservations_by_time on reservations using brin (created_at) with (autosummarize = on);
comment on index reservations_by_time is
  'Lists over all accounts. A BRIN index of page ranges: it costs an insert next to nothing.';

create table open_reservations (
  reservation_id uuid primary key,
  known bigint not null default 0 check (known >= 0),
  owner text,
  lease_until timestamptz,
  constraint open_reservations_owner_and_lease check ((owner is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table open_reservations is 'Reservations that have not ended. Small, however long the history is.';
comment on column open_reservations.known is 'Cost delivered so far, charged when the owner''s lease runs out.';
comment on column open_reservations.owner is 'Process whose call it is for; null for a job, which outlives processes.';
comment on column open_reservations.lease_until is
  'First lease. The reservation is abandoned when both this one and its owner''s in reservation_owners have run out.';

create table reservation_owners (
  process_id text primary key,
  lease_until timestamptz not null
);
comment on table reservation_owners is
  'Leases of processes: a live process extends the lease of all its reservations by one row.';

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
  created_at timestamptz not null,
  reservation_id uuid,
  grant_ids text[] not null,
  parts bigint[] not null,
  units json,
  primary key (account_id, number)
);
comment on table ledger_entries is
  'Append-only ledger. Each entry moves credits between five places; the signed columns granted, available, reserved, '
  'charged and lapsed are what it adds to each.';
comment on column ledger_entries.number is 'Gapless within an account, so a missing or doubled row shows.';
comment on column ledger_entries.type is
  'grant, revoke, reserve, settle, refund; charge: cost above the reservation, which becomes debt; cover: grants pay '
  'debt; lapse: the remainder of an expired grant.';
comment on column ledger_entries.balance is 'Available credits after the entry, so an altered row shows.';
comment on column ledger_entries.grant_ids is 'The grants that the entry changes.';
comment on column ledger_entries.parts is 'How much was taken from (negative) or returned to each of grant_ids.';
comment on column ledger_entries.units is 'What a settlement counted: tokens, images, seconds. Never searched.';

create unique index ledger_entries_once on ledger_entries
  (reservation_id, (case type when 'reserve' then 'hold' when 'charge' then 'excess' else 'end' end))
  where reservation_id is not null;
comment on index ledger_entries_once is 'A reservation is made once, ends once, and is exceeded once.';
create index ledger_entries_usage on ledger_entries (account_id, created_at) where charged > 0;
create index ledger_entries_by_time on ledger_entries using brin (created_at) with (autosummarize = on);
comment on index ledger_entries_by_time is
  'Sums over all accounts. A BRIN index of page ranges: it costs an insert next to nothing.';

create function ledger_entry_is_sound(type text, granted bigint, available bigint, reserved bigint,
  charged bigint, lapsed bigint, reservation_id uuid) returns boolean language plpgsql immutable as $$
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
end $$;
comment on function ledger_entry_is_sound is
  'Debits equal credits, and an entry moves only what its type may. One function instead of many checks: the text of '
  'each check constraint is parsed anew by every batch.';
alter table ledger_entries add constraint ledger_entries_sound check (
  ledger_entry_is_sound(type, granted, available, reserved, charged, lapsed, reservation_id)
  and number > 0 and cardinality(grant_ids) = cardinality(parts));

create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name;
end $$;
comment on function ledger_refuse_change is 'Refuses the statement.';
create trigger prices_append_only before update or delete or truncate on prices
  for each statement execute function ledger_refuse_change();
comment on trigger prices_append_only on prices is 'A frozen price is never changed or removed.';
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function ledger_refuse_change();
comment on trigger ledger_entries_append_only on ledger_entries is 'Entries are never changed or removed.';

create function period_start(period text, at timestamptz) returns date language sql immutable
return date_trunc(period, at at time zone 'UTC')::date;
comment on function period_start is 'First day of the current day, week (from Monday) or month of the UTC calendar.';

create function spent_in_period(key key_spending, period text, at timestamptz) returns bigint
language plpgsql immutable as $$
begin
  return case period
    when 'day' then case when key.day = period_start('day', at) then key.day_spent else 0 end
    when 'week' then case when key.week = period_start('week', at) then key.week_spent else 0 end
    when 'month' then case when key.month = period_start('month', at) then key.month_spent else 0 end
    else key.spent end;
end $$;
comment on function spent_in_period is
  'What a credential has spent in the period that is current at a time; without a period, ever.';

create function ledger_derive() returns trigger language plpgsql as $$
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
end $$;
comment on function ledger_derive is
  'Adds new entries to the figures derived from them: the only writer of grants.remaining, balances and key_spending. '
  'Entries of one reservation are summed before its key is looked up, which is most of the cost.';
create trigger ledger_entries_derive after insert on ledger_entries
  referencing new table as posted for each statement execute function ledger_derive();
comment on trigger ledger_entries_derive on ledger_entries is
  'Derived figures change in the transaction of the entries.';

create function ledger_open_account() returns trigger language plpgsql as $$
begin
  insert into balances (account_id, updated_at) values (new.id, new.created_at);
  return null;
end $$;
comment on function ledger_open_account is 'Inserts the balance of a new account, so that there is a row to lock.';
create trigger accounts_open_balance after insert on accounts
  for each row execute function ledger_open_account();
comment on trigger accounts_open_balance on accounts is 'Every account has a balance.';

create function ledger_open_key() returns trigger language plpgsql as $$
begin
  insert into key_spending (key_id, day, week, month) values (new.id, period_start('day', new.created_at),
    period_start('week', new.created_at), period_start('month', new.created_at));
  return null;
end $$;
comment on function ledger_open_key is 'Inserts the spending of a new API key or OAuth grant.';
create trigger api_keys_open_spending after insert on api_keys
  for each row execute function ledger_open_key();
comment on trigger api_keys_open_spending on api_keys is 'Every API key has a row of spending.';
create trigger oauth_grants_open_spending after insert on oauth_grants
  for each row execute function ledger_open_key();
comment on trigger oauth_grants_open_spending on oauth_grants is 'Every OAuth grant has a row of spending.';

create table ledger_checkpoints (
  kind text not null check (kind in ('balances', 'grants', 'key_spending')),
  id text not null,
  figures bigint[] not null,
  primary key (kind, id)
);
comment on table ledger_checkpoints is
  'Figures that the last check of the books proved, so that the next one only adds up the entries after it.';
comment on column ledger_checkpoints.kind is 'Table of the figures.';
comment on column ledger_checkpoints.id is 'Account, grant or key.';
comment on column ledger_checkpoints.figures is
  'The row''s figures at the checkpoint, in the order of the program''s list.';

create table ledger_checks (
  only_row boolean primary key default true check (only_row),
  generation bigint not null,
  checked_at timestamptz,
  balanced boolean,
  constraint ledger_checks_verdict check ((checked_at is null) = (balanced is null))
);
comment on table ledger_checks is 'Generation of the checkpoints, and the last verdict; exactly one row.';
comment on column ledger_checks.checked_at is 'When the books were last checked; null before the first time.';
comment on column ledger_checks.balanced is 'What that check found.';
comment on column ledger_checks.generation is
  'Incremented when checkpoints are written. All are of one snapshot: a check writes its own only if the generation '
  'is still the one that it read.';
insert into ledger_checks (generation) values (0);

create table ledger_exports (
  day date primary key,
  owner text,
  lease_until timestamptz,
  object_key text,
  entries bigint,
  bytes bigint,
  sha256 text,
  exported_at timestamptz,
  constraint ledger_exports_owner_and_lease check ((owner is null) = (lease_until is null)),
  constraint ledger_exports_done check (num_nulls(object_key, entries, bytes, sha256, exported_at) in (0, 5))
);
comment on table ledger_exports is
  'Days of the UTC calendar whose entries were written to the object store, or are being written by a process under a lease.';
comment on column ledger_exports.owner is 'Process that writes it now.';
comment on column ledger_exports.entries is 'How many entries the file has.';
comment on column ledger_exports.sha256 is 'Of the file as it is stored, in hexadecimal.';

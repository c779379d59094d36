-- Money. The truth is ledger_entries, which is only ever added to. Everything else that shows an amount (grants.remaining,
-- balances, key_spending) is derived from it by one trigger, in the same transaction.
--
-- The rules are functions here, not statements in the program, for one reason: a rule must first lock an account and
-- then look at it. Inside one statement the looking would be done with the eyes of before the lock; a function looks
-- anew with every statement, and still costs the caller a single round trip.
--
-- Amounts are micro-credits. Time is always given by the caller; an account's own time never runs backwards, whichever
-- process's clock is ahead: what happens to it happens at greatest(moment, balances.updated_at).

create table grants (
  id text primary key,
  -- Grows under the account's lock, so within an account it is the order of age.
  number bigint generated always as identity,
  account_id text not null references accounts,
  amount bigint not null check (amount > 0),
  remaining bigint not null default 0 check (remaining between 0 and amount),
  -- Changes only when a grant runs dry or is filled again: as long as it does not, updates of `remaining` touch no index.
  spendable boolean generated always as (remaining > 0) stored,
  source text not null,
  reference text,
  -- Null never expires.
  expires_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 50);
-- One payment cannot be granted twice.
create unique index grants_reference on grants (reference);
create index grants_newest on grants (account_id, number desc);
-- The order of spending: soonest expiry first, never expiring last, then age. Without the spent ones, so that a long
-- history costs nothing.
create index grants_spending_order on grants (account_id, expires_at, number) where spendable;
create index grants_expiring on grants (expires_at) where spendable;

-- One row per account, born with it. The row is also the account's lock: whoever changes money holds it.
create table balances (
  account_id text primary key references accounts,
  -- Bounded so that every sum of an account prints exactly as a JSON number: below 2^53 micro-credits.
  granted bigint not null default 0 constraint balances_granted_max check (granted <= 9000000000000000),
  -- What the grants still hold, less the debt.
  available bigint not null default 0,
  reserved bigint not null default 0 check (reserved >= 0),
  charged bigint not null default 0 check (charged >= 0),
  lapsed bigint not null default 0 check (lapsed >= 0),
  -- Charges that no grant has covered yet. They are the only way below zero.
  debt bigint not null default 0 check (debt >= 0),
  -- How many entries the account has; also the number of the last one.
  entries bigint not null default 0,
  updated_at timestamptz not null,
  check (granted = available + reserved + charged + lapsed),
  check (available + debt >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What each key has spent, in all and in the running periods (UTC calendar), and what its open reservations hold.
create table key_spending (
  key_id text primary key references api_keys,
  held bigint not null default 0 check (held >= 0),
  spent bigint not null default 0 check (spent >= 0),
  -- The first day of the period that the figure beside it counts.
  day date not null,
  day_spent bigint not null default 0 check (day_spent >= 0),
  week date not null,
  week_spent bigint not null default 0 check (week_spent >= 0),
  month date not null,
  month_spent bigint not null default 0 check (month_spent >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- One call's or job's hold: who, how much, out of which grants, for what, at which price. Never changed, so a long
-- history needs no cleaning. The caller makes the id (version 7, so that new rows are neighbours), hence a repeat after
-- a lost answer finds its own row. Account and key are not foreign keys: every row is written by ledger_reserve, which
-- has both rows in hand, and the check would cost more than the insert.
create table reservations (
  id uuid primary key,
  amount bigint not null check (amount >= 0),
  created_at timestamptz not null,
  account_id text not null,
  key_id text,
  -- What was taken from which grant, in spending order.
  grant_ids text[] not null,
  parts bigint[] not null,
  request_id text not null,
  job_id text,
  model text not null,
  endpoint text not null,
  -- The price in force when the credits were held. Never searched.
  price json not null
);

-- The reservations that have not ended. Small, however long the history is.
create table open_reservations (
  reservation_id uuid primary key,
  -- What is owed even if the caller's process dies now.
  known bigint not null default 0 check (known >= 0),
  -- A reservation of a synchronous call ends with its process; both null for a job. See reservation_owners.
  owner text,
  lease_until timestamptz,
  check ((owner is null) = (lease_until is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- A living process extends the lease of all its reservations by this one row. A reservation is abandoned when both its
-- own first lease and its owner's have run out.
create table reservation_owners (
  process_id text primary key,
  lease_until timestamptz not null
);

-- Each entry moves credits between five places. Within an account the numbers have no gap, and `balance` is what is
-- available after the entry, so a row that is missing, doubled or altered shows.
create table ledger_entries (
  account_id text not null,
  number bigint not null check (number > 0),
  type text not null,
  granted bigint not null,
  available bigint not null,
  reserved bigint not null,
  charged bigint not null,
  lapsed bigint not null,
  balance bigint not null,
  created_at timestamptz not null,
  reservation_id uuid,
  -- How much came out of (negative) or went back into each grant.
  grant_ids text[] not null,
  parts bigint[] not null,
  -- What a settlement counted: tokens, images, seconds. Never searched.
  units json,
  primary key (account_id, number),
  -- Debits equal credits.
  check (granted = available + reserved + charged + lapsed),
  -- What each type may move; `lapsed` follows from the line above.
  check (case type
    when 'grant'   then granted > 0 and available = granted and reserved = 0 and charged = 0
    when 'reserve' then granted = 0 and reserved >= 0 and available = -reserved and charged = 0
    when 'settle'  then granted = 0 and available >= 0 and charged >= 0 and reserved = -(available + charged)
    when 'refund'  then granted = 0 and available >= 0 and charged = 0 and reserved = -available
    -- What the real cost was above the reservation. It becomes debt.
    when 'charge'  then granted = 0 and charged > 0 and available = -charged and reserved = 0
    -- Grants pay debt: what is available stays the same.
    when 'cover'   then granted = 0 and available = 0 and charged = 0 and reserved = 0
    -- A grant's remainder at its expiry.
    when 'lapse'   then granted = 0 and lapsed > 0 and charged = 0 and reserved = 0
    else false end),
  check ((reservation_id is not null) = (type in ('reserve', 'settle', 'refund', 'charge'))),
  check (cardinality(grant_ids) = cardinality(parts))
);
-- A reservation is held once, ends once, and exceeds once.
create unique index ledger_entries_once on ledger_entries
  (reservation_id, (case type when 'reserve' then 'hold' when 'charge' then 'excess' else 'end' end))
  where reservation_id is not null;
create index ledger_entries_usage on ledger_entries (account_id, created_at) where charged > 0;

create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed or removed';
end $$;
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function ledger_refuse_change();

-- Derives every figure from the entries just added: the only writer of grants.remaining, balances and key_spending.
create function ledger_derive() returns trigger language plpgsql as $$
begin
  if not exists (select from posted) then return null; end if;

  update grants set remaining = remaining + moved.part
  from (
    select split.grant_id, sum(split.part)::bigint as part
    from posted cross join unnest(posted.grant_ids, posted.parts) as split (grant_id, part)
    group by split.grant_id
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
    select reservations.key_id, sum(posted.reserved)::bigint as reserved, sum(posted.charged)::bigint as charged,
      period_start('day', max(posted.created_at)) as day, period_start('week', max(posted.created_at)) as week,
      period_start('month', max(posted.created_at)) as month
    from posted join reservations on reservations.id = posted.reservation_id
    group by reservations.key_id
  ) as moved
  where key_spending.key_id = moved.key_id;
  return null;
end $$;
create trigger ledger_entries_derive after insert on ledger_entries
  referencing new table as posted for each statement execute function ledger_derive();

-- The first day of the running day, week (from Monday) or month, by the UTC calendar.
create function period_start(period text, at timestamptz) returns date language sql immutable
return date_trunc(period, at at time zone 'UTC')::date;

-- What a key has spent in the period that runs at a moment; without a period, ever.
create function spent_in_period(key key_spending, period text, at timestamptz) returns bigint
language plpgsql immutable as $$
begin
  return case period
    when 'day' then case when key.day = period_start('day', at) then key.day_spent else 0 end
    when 'week' then case when key.week = period_start('week', at) then key.week_spent else 0 end
    when 'month' then case when key.month = period_start('month', at) then key.month_spent else 0 end
    else key.spent end;
end $$;

create function ledger_open_account() returns trigger language plpgsql as $$
begin
  insert into balances (account_id, updated_at) values (new.id, new.created_at);
  return null;
end $$;
create trigger accounts_open_balance after insert on accounts
  for each row execute function ledger_open_account();
insert into balances (account_id, updated_at) select id, created_at from accounts;

create function ledger_open_key() returns trigger language plpgsql as $$
begin
  insert into key_spending (key_id, day, week, month) values (new.id, period_start('day', new.created_at),
    period_start('week', new.created_at), period_start('month', new.created_at));
  return null;
end $$;
create trigger api_keys_open_spending after insert on api_keys
  for each row execute function ledger_open_key();
insert into key_spending (key_id, day, week, month)
  select id, period_start('day', created_at), period_start('week', created_at), period_start('month', created_at)
  from api_keys;

-- Locks accounts in the order of their ids, so that no two callers can wait for each other, and returns those that it
-- did not get. Patience 'skip' leaves out what somebody else holds, 'brief' fails soon (SQLSTATE 55P03), 'wait' waits
-- for as long as the connection's lock_timeout allows.
create function ledger_lock(account_ids text[], patience text) returns text[] language plpgsql as $$
declare
  locked text[];
begin
  if patience = 'skip' then
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update skip locked);
  else
    if patience = 'brief' then perform set_config('lock_timeout', '50ms', true); end if;
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update);
  end if;
  if cardinality(locked) = cardinality(account_ids) then return '{}'; end if;
  return array(select account_id from balances
    where account_id = any (account_ids) and account_id <> all (locked));
end $$;

-- Takes what expired grants still hold out of the balance. It runs after credits came in or back and before any are
-- taken: nothing is ever paid from an expired grant, and a refund into one lapses at once.
create function ledger_lapse(moment timestamptz, account_ids text[]) returns void language plpgsql as $$
begin
  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + row_number() over expiry, 'lapse', 0, -remaining, 0, 0, remaining,
    available - sum(remaining) over expiry, at, array[grant_id], array[-remaining]
  from (
    select account_id, b.entries, b.available, g.id as grant_id, g.number, g.remaining, g.expires_at,
      greatest(moment, b.updated_at) as at
    from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)
  ) as expired
  window expiry as (partition by account_id order by expires_at, number);
end $$;

-- Lets spendable grants pay debt, in spending order: debt and spendable credits never stand side by side.
create function ledger_cover(moment timestamptz, account_ids text[]) returns void language plpgsql as $$
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
end $$;

-- Answers 'granted', or 'unknown' for an account that is not there, or 'duplicate' for a reference that is.
create function ledger_grant(
  moment timestamptz, new_id text, new_account_id text, new_amount bigint, new_source text, new_reference text,
  new_expires_at timestamptz
) returns text language plpgsql as $$
begin
  perform ledger_lock(array[new_account_id], 'wait');
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

  perform ledger_lapse(moment, array[new_account_id]);
  perform ledger_cover(moment, array[new_account_id]);
  return 'granted';
end $$;

-- What goes back to each grant of a split when this much of it is charged: the charge uses up the split from its front.
create function ledger_returned(parts bigint[], charged bigint) returns bigint[] language plpgsql immutable as $$
declare
  to_charge bigint := charged;
  kept bigint;
begin
  for place in 1 .. cardinality(parts) loop
    kept := least(parts[place], to_charge);
    to_charge := to_charge - kept;
    parts[place] := parts[place] - kept;
  end loop;
  return parts;
end $$;

-- Settles (with an actual cost) or refunds (with null) reservations of locked accounts. What has ended already is left
-- as it is. Answers, in the order of asking, [state, charged] or "busy" or "unknown".
create function ledger_end(moment timestamptz, locked text[], busy text[], ids uuid[], actuals bigint[], measured json[])
returns json language plpgsql as $$
declare
  answers json;
begin
  with asked as materialized (
    select member, actual, units, reservations.*, open_reservations.reservation_id is not null as is_open
    from unnest(ids, actuals, measured) with ordinality as m (asked_id, actual, units, member)
    left join reservations on reservations.id = m.asked_id
    left join open_reservations on open_reservations.reservation_id = m.asked_id
  ),
  ending as materialized (
    select asked.*, b.entries, b.available, greatest(moment, b.updated_at) as at,
      least(coalesce(actual, 0), amount) as covered,
      greatest(coalesce(actual, 0) - amount, 0) as excess
    from asked join balances b using (account_id)
    where is_open and account_id = any (locked)
  ),
  entry as (
    select account_id, member, 1 as step, case when actual is null then 'refund' else 'settle' end as type,
      amount - covered as moved, -amount as reserved, covered as charged, grant_ids,
      ledger_returned(parts, covered) as parts, units, id, entries, available, at
    from ending
    union all
    select account_id, member, 2, 'charge', -excess, 0, excess, '{}', '{}', null, id, entries, available, at
    from ending where excess > 0
  ),
  entered as (
    insert into ledger_entries
      (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
      grant_ids, parts, units)
    select account_id, entries + row_number() over arrival, type, 0, moved, reserved, charged, 0,
      available + sum(moved) over arrival, at, id, grant_ids, parts, units
    from entry window arrival as (partition by account_id order by member, step)
  ),
  closed as (
    delete from open_reservations using ending where reservation_id = ending.id
  )
  select json_agg(case
    when id is null then '"unknown"'::json
    when not is_open then (
      select json_build_array(case when bool_or(type = 'settle') then 'settled' else 'refunded' end, sum(charged))
      from ledger_entries where reservation_id = asked.id)
    when account_id = any (busy) then '"busy"'::json
    when account_id <> all (locked) then '"unknown"'::json
    when actual is null then json_build_array('refunded', 0)
    else json_build_array('settled', actual) end order by member)
  from asked into answers;
  return answers;
end $$;

-- Decides, in the order of asking, which reservations of locked accounts are admitted, and splits them over the grants.
-- Changes nothing. Members of one account must stand together, in the order in which they came.
create function ledger_admit(
  moment timestamptz, busy text[], ids uuid[], account_ids text[], key_ids text[], amounts bigint[]
) returns table (
  verdict text, entry_number bigint, balance_after bigint, at timestamptz, split_ids text[], split_parts bigint[]
) language plpgsql as $$
declare
  asked record;
  current_account text := '';
  -- What the current account has left, and its grants in spending order, as earlier members leave them.
  open_ids text[];
  open_parts bigint[];
  place integer;
  -- The keys with a limit met so far, and what each may still spend.
  limited_keys text[] := '{}';
  allowances bigint[] := '{}';
  key_place integer;
  to_take bigint;
  part bigint;
begin
  for asked in
    select m.id, m.account_id, m.key_id, m.amount, b.account_id is null as unknown, b.available, b.entries,
      greatest(moment, b.updated_at) as at, api_keys.id is null as unknown_key,
      credit_limit - held - spent_in_period(key_spending, credit_limit_reset, greatest(moment, b.updated_at)) as allowance,
      earlier.id is not null as repeated, earlier.account_id = m.account_id and earlier.amount = m.amount as same,
      earlier.grant_ids, earlier.parts
    from unnest(ids, account_ids, key_ids, amounts) with ordinality as m (id, account_id, key_id, amount, member)
    left join balances b on b.account_id = m.account_id
    left join reservations earlier on earlier.id = m.id
    left join api_keys on api_keys.id = m.key_id and api_keys.account_id = m.account_id
    left join key_spending on key_spending.key_id = api_keys.id
    order by m.member
  loop
    at := asked.at;
    split_ids := '{}';
    split_parts := '{}';

    if asked.account_id <> current_account then
      if asked.account_id < current_account collate "C" then
        raise exception 'members must come in the order of their accounts';
      end if;
      current_account := asked.account_id;
      balance_after := asked.available;
      entry_number := asked.entries;
      place := 1;
      select array_agg(id), array_agg(remaining) into open_ids, open_parts
      from (select id, remaining from grants where account_id = current_account and spendable
        order by expires_at, number) as spending_order;
    end if;
    key_place := null;
    if asked.allowance is not null then
      key_place := array_position(limited_keys, asked.key_id);
      if key_place is null then
        limited_keys := limited_keys || asked.key_id;
        allowances := allowances || asked.allowance::bigint;
        key_place := cardinality(limited_keys);
      end if;
    end if;

    verdict := case
      when asked.unknown or (asked.key_id is not null and asked.unknown_key) then 'unknown'
      when asked.account_id = any (busy) then 'busy'
      when asked.repeated then case when asked.same then 'repeated' else 'conflict' end
      when balance_after < asked.amount then 'balance'
      when allowances[key_place] < asked.amount then 'key_limit'
      else 'admitted' end;

    if verdict = 'repeated' then
      split_ids := asked.grant_ids;
      split_parts := asked.parts;
    elsif verdict = 'admitted' then
      entry_number := entry_number + 1;
      balance_after := balance_after - asked.amount;
      if key_place is not null then allowances[key_place] := allowances[key_place] - asked.amount; end if;
      to_take := asked.amount;
      while to_take > 0 loop
        part := least(coalesce(open_parts[place], 0), to_take);
        if part > 0 then
          split_ids := split_ids || open_ids[place];
          split_parts := split_parts || part;
          open_parts[place] := open_parts[place] - part;
          to_take := to_take - part;
        elsif place > cardinality(open_parts) then
          raise exception 'the grants of % do not hold its balance', current_account;
        else
          place := place + 1;
        end if;
      end loop;
    end if;
    return next;
  end loop;
end $$;

-- Holds credits. Answers, in the order of asking, the split as [[grant ids], [parts]] for whoever is admitted, or
-- "balance", "key_limit", "busy", "unknown", or "conflict" for an id that was used for something else.
create function ledger_reserve(
  moment timestamptz, busy text[], ids uuid[], account_ids text[], key_ids text[], amounts bigint[],
  request_ids text[], job_ids text[], models text[], endpoints text[], prices json[], owner text, lease_until timestamptz
) returns json language plpgsql as $$
declare
  answers json;
begin
  with decided as materialized (
    select * from rows from (
      ledger_admit(moment, busy, ids, account_ids, key_ids, amounts),
      unnest(ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints, prices)
    ) with ordinality as d (verdict, entry_number, balance_after, at, split_ids, split_parts,
      id, account_id, key_id, amount, request_id, job_id, model, endpoint, price, member)
  ),
  held as (
    insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, job_id, model,
      endpoint, price)
    select id, amount, at, account_id, key_id, split_ids, split_parts, request_id, job_id, model, endpoint, price
    from decided where verdict = 'admitted'
  ),
  opened as (
    insert into open_reservations (reservation_id, owner, lease_until)
    select id, ledger_reserve.owner, ledger_reserve.lease_until from decided where verdict = 'admitted'
  ),
  entered as (
    insert into ledger_entries
      (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
      grant_ids, parts)
    select account_id, entry_number, 'reserve', 0, -amount, amount, 0, 0, balance_after, at, id, split_ids,
      array(select -part from unnest(split_parts) as part)
    from decided where verdict = 'admitted'
  )
  select json_agg(case
    when verdict in ('admitted', 'repeated') then json_build_array(split_ids, split_parts)
    else to_json(verdict) end order by member)
  from decided into answers;
  return answers;
end $$;

-- One batch of endings and reservations, in one transaction. Endings come first: what they give back can be reserved.
-- Answers [endings' answers, reservations' answers]; "busy" members were not touched, because patience was 'skip' and
-- somebody else had their account.
--
-- Every look-up here is by a whole key. A plan made while the tables were small must still be right when they are not,
-- hence the settings.
create function ledger_run(
  moment timestamptz, patience text,
  end_ids uuid[], actuals bigint[], measured json[],
  ids uuid[], account_ids text[], key_ids text[], amounts bigint[], request_ids text[], job_ids text[], models text[],
  endpoints text[], prices json[], owner text, lease_until timestamptz
) returns json language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  accounts text[] := array(
    select unnest(account_ids) union select account_id from reservations where id = any (end_ids));
  busy text[] := ledger_lock(accounts, patience);
  ours text[] := accounts;
  ended json;
  reserved json;
begin
  if busy <> '{}' then ours := array(select unnest(accounts) except select unnest(busy)); end if;
  if cardinality(ids) > 1 and cardinality(ids) > (select count(distinct id) from unnest(ids) as id) then
    raise unique_violation using message = 'one id twice in one batch';
  end if;
  if end_ids <> '{}' then ended := ledger_end(moment, ours, busy, end_ids, actuals, measured); end if;
  perform ledger_lapse(moment, ours);
  perform ledger_cover(moment, ours);
  if ids <> '{}' then
    reserved := ledger_reserve(moment, busy, ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints,
      prices, owner, lease_until);
  end if;
  return json_build_array(ended, reserved);
end $$;

-- The duty that moves expired remainders of accounts nobody is using. Answers how many accounts it found.
create function ledger_lapse_some(moment timestamptz, accounts_max integer) returns integer language plpgsql as $$
declare
  accounts text[] := array(
    select distinct account_id from grants where spendable and expires_at <= moment limit accounts_max);
  busy text[] := ledger_lock(accounts, 'skip');
begin
  perform ledger_lapse(moment, array(select unnest(accounts) except select unnest(busy)));
  return cardinality(accounts) - cardinality(busy);
end $$;

-- A busy account's calls without a wait for the account.
--
-- A process may put some of an account's credits into a purse of its own and hold them for calls by itself. Who has a
-- purse writes holds and ends into the journal, one plain row each: that row is the fact, and a commit of it costs a tenth
-- of what the entries cost. The entries follow, many in one go, before anybody reads them or decides about the account.
--
-- Nobody is refused because of a purse: whoever would come short without its credits takes the purse away first. A
-- process notices when it writes, and asks like everybody else.

create table purses (
  id uuid primary key,
  account_id text not null references accounts,
  process_id text not null,
  -- Set aside from everybody else: what the process has not held of it yet, and what it has but no entry says so yet.
  amount bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index purses_account on purses (account_id);

-- What has happened and has no entries yet, in the order in which it happened.
create table ledger_journal (
  account_id text not null,
  number bigint generated always as identity,
  purse_id uuid not null,
  -- A hold, the end of one, or both; see ledger_apply.
  member json not null,
  primary key (account_id, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Makes entries of what the journal says about locked accounts. It cannot fail for want of credits: purses have set them
-- aside, and should they be gone nevertheless, less is held and the end is charged in full all the same.
create function ledger_apply(account_ids text[]) returns void language plpgsql as $$
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return; end if;

  with taken as (
    delete from ledger_journal where account_id = any (account_ids)
    returning account_id, number as place, purse_id, member
  ),
  said as materialized (
    select taken.account_id, place, purse_id, told.*
    from taken cross join lateral json_to_record(member) as told (
      id uuid, held bigint, held_at timestamptz, owner text, lease_until timestamptz, key_id text, request_id text,
      model text, endpoint text, price json, ended_at timestamptz, actual bigint, units json)
  ),
  -- The credits that are held, laid out one after the other, beside those that the grants have in the order of spending:
  -- where the two overlap, the one is taken from the other.
  asked as (
    select *, (sum(held) over earlier - held)::bigint as after, (sum(held) over earlier)::bigint as upto
    from said where held is not null and (select reservations.id from reservations where reservations.id = said.id) is null
    window earlier as (partition by account_id order by place)
  ),
  spending as materialized (
    select account_id, id as grant_id, row_number() over sooner as turn,
      (sum(remaining) over sooner - remaining)::bigint as after, (sum(remaining) over sooner)::bigint as upto
    from grants where account_id = any (account_ids) and spendable
    window sooner as (partition by account_id order by expires_at, number)
  ),
  holds as materialized (
    select asked.*, coalesce(split.amount, 0) as amount, coalesce(split.grant_ids, '{}') as grant_ids,
      coalesce(split.parts, '{}') as parts
    from asked cross join lateral (
      select sum(part)::bigint as amount, array_agg(grant_id order by turn) as grant_ids,
        array_agg(part order by turn) as parts
      from (
        select grant_id, turn, least(spending.upto, asked.upto) - greatest(spending.after, asked.after) as part
        from spending where spending.account_id = asked.account_id
      ) as overlap
      where part > 0
    ) as split
  ),
  ends as materialized (
    select distinct on (id) *, least(coalesce(actual, 0), amount) as covered, coalesce(actual, 0) > amount as exceeds
    from (
      select account_id, place, id, ended_at, actual, units, amount, grant_ids, parts
      from holds where ended_at is not null
      union all
      select said.account_id, said.place, said.id, said.ended_at, said.actual, said.units,
        coalesce(holds.amount, earlier.amount), coalesce(holds.grant_ids, earlier.grant_ids),
        coalesce(holds.parts, earlier.parts)
      from said
      left join holds on holds.id = said.id
      left join open_reservations on reservation_id = said.id
      left join reservations earlier on earlier.id = reservation_id
      where said.held is null and (holds.id is not null or earlier.id is not null)
    ) as ending
    order by id, place
  ),
  events as (
    select account_id, place, 1 as step, 'reserve' as type, held_at as at, id, -amount as available, amount as reserved,
      0 as charged, grant_ids, array(select -part from unnest(parts) as part) as parts, null::json as units
    from holds
    union all
    select account_id, place, 2, case when actual is null then 'refund' else 'settle' end, ended_at, id,
      amount - covered, -amount, covered, grant_ids, ledger_returned(parts, covered), units
    from ends
    union all
    select account_id, place, 3, 'charge', ended_at, id, amount - actual, 0, actual - amount, '{}', '{}', null
    from ends where exceeds
  ),
  entered as (
    insert into ledger_entries
      (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
      grant_ids, parts, units)
    select events.account_id, b.entries + row_number() over so_far, type, 0, events.available, events.reserved,
      events.charged, 0, b.available + sum(events.available) over so_far,
      greatest(b.updated_at, max(at) over so_far), events.id, grant_ids, parts, units
    from events join balances b on b.account_id = events.account_id
    window so_far as (partition by events.account_id order by place, step)
  ),
  held as (
    insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint,
      price)
    select id, amount, held_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint, price from holds
  ),
  opened as (
    insert into open_reservations (reservation_id, owner, lease_until)
    select id, owner, lease_until from holds where id not in (select id from ends)
  ),
  closed as (
    delete from open_reservations where reservation_id = any (array(select id from ends))
  )
  update purses set amount = purses.amount - taken_out.amount
  from (select purse_id, sum(held)::bigint as amount from holds group by purse_id) as taken_out
  where purses.id = taken_out.purse_id;
end $$;

-- Takes purses away from locked accounts whose credits somebody else needs, for reservations or for charges above what was
-- held, and which would come short. What the purses' processes had written until then is held.
create function ledger_recall(
  locked text[], account_ids text[], amounts bigint[], end_ids uuid[], actuals bigint[]
) returns void language plpgsql as $$
begin
  if not exists (select from purses where account_id = any (locked)) then return; end if;

  delete from purses where account_id = any (locked) and account_id in (
    select account_id
    from (
      select account_id, sum(amount) as amount
      from (
        select account_id, amount from unnest(account_ids, amounts) as m (account_id, amount)
        union all
        select r.account_id, m.actual - r.amount from unnest(end_ids, actuals) as m (id, actual) join reservations r on r.id = m.id
        where m.actual > r.amount
      ) as need
      group by account_id
    ) as needed
    join balances b using (account_id)
    where b.available - (select coalesce(sum(p.amount), 0) from purses p where p.account_id = needed.account_id)
      < needed.amount);
  if found then perform ledger_apply(locked); end if;
end $$;

-- Puts credits into a process's purse, a new one or the one that it has: up to what is wanted, but no more than a quarter
-- of what nobody else has set aside. Answers how much, 0 when that is not worth while; null when there is no such purse
-- any more.
create function ledger_fill_purse(
  purse_id uuid, is_new boolean, new_account_id text, new_process_id text, wanted bigint, enough bigint, until timestamptz
) returns bigint language plpgsql as $$
declare
  given bigint;
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- A purse does not know which credits expire, or when.
  if exists (select from grants where account_id = new_account_id and spendable and expires_at <= until) then
    return 0;
  end if;
  select least(wanted, (available - (select coalesce(sum(amount), 0) from purses where account_id = new_account_id)) / 4)
    into given from balances where account_id = new_account_id;
  if given is null or given < enough then return 0; end if;
  if is_new then
    insert into purses (id, account_id, process_id, amount) values (purse_id, new_account_id, new_process_id, given);
  else
    update purses set amount = amount + given where id = purse_id;
    if not found then return null; end if;
  end if;
  return given;
end $$;

-- As before, after whoever has a purse.
create or replace function ledger_lapse(moment timestamptz, account_ids text[]) returns void language plpgsql as $$
declare
  expiring text[] := array(
    select distinct account_id from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at));
begin
  if expiring = '{}' then return; end if;
  -- What was held of them before this moment stays held.
  delete from purses where account_id = any (expiring);
  perform ledger_apply(expiring);

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + row_number() over expiry, 'lapse', 0, -remaining, 0, 0, remaining,
    available - sum(remaining) over expiry, at, array[grant_id], array[-remaining]
  from (
    select account_id, b.entries, b.available, g.id as grant_id, g.number, g.remaining, g.expires_at,
      greatest(moment, b.updated_at) as at
    from balances b join grants g using (account_id)
    where account_id = any (expiring) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)
  ) as expired
  window expiry as (partition by account_id order by expires_at, number);
end $$;

-- What is due whenever an account was touched. Both are rare, and looking costs less than doing nothing.
create function ledger_tidy(moment timestamptz, account_ids text[]) returns void language plpgsql as $$
begin
  if exists (select from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)) then
    perform ledger_lapse(moment, account_ids);
  end if;
  if exists (select from balances where account_id = any (account_ids) and debt > 0) then
    perform ledger_cover(moment, account_ids);
  end if;
end $$;

-- Makes entries of what the journal says about these accounts.
create function ledger_catch_up(account_ids text[], patience text) returns void language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan as $$
declare
  busy text[];
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return; end if;
  busy := ledger_lock(account_ids, patience);
  if busy <> '{}' then account_ids := array(select unnest(account_ids) except select unnest(busy)); end if;
  perform ledger_apply(account_ids);
  -- At the account's own time.
  perform ledger_tidy('-infinity', account_ids);
end $$;

-- The same for whatever accounts there are. Answers how many it found.
create function ledger_catch_up_some(accounts_max integer) returns integer language plpgsql as $$
declare
  accounts text[] := array(select distinct account_id from ledger_journal limit accounts_max);
begin
  perform ledger_catch_up(accounts, 'skip');
  return cardinality(accounts);
end $$;

drop function ledger_end;
drop function ledger_reserve;
drop function ledger_run;

-- Settles (with an actual cost) or refunds (with null) reservations of locked accounts. What has ended already is left
-- as it is. Answers, in the order of asking, [state, charged] or "busy" or "unknown".
create function ledger_end(
  moment timestamptz, locked text[], busy text[], ids uuid[], account_ids text[], actuals bigint[], measured json[]
) returns json language plpgsql as $$
declare
  asked record;
  answers json[];
  current_account text := '';
  balance bigint;
  number bigint;
  covered bigint;
  excess bigint;
  entries ledger_entries[];
  closed uuid[] := '{}';
begin
  -- The order of accounts is for the running figures; within an account first come, first served.
  for asked in
    select m.member, m.account_id as told_account_id, m.actual, m.units, r.id, r.account_id, r.amount, r.grant_ids, r.parts,
      o.reservation_id is not null as is_open, b.available, b.entries, greatest(moment, b.updated_at) as at
    from unnest(ids, account_ids, actuals, measured) with ordinality as m (asked_id, account_id, actual, units, member)
    left join reservations r on r.id = m.asked_id
    left join open_reservations o on o.reservation_id = m.asked_id
    left join balances b on b.account_id = r.account_id
    order by r.account_id, m.member
  loop
    if asked.id is null then
      -- The journal of an account that somebody else has may know it.
      answers[asked.member] := case when asked.told_account_id = any (busy) then '"busy"' else '"unknown"' end;
    elsif not asked.is_open then
      answers[asked.member] := (
        select json_build_array(case when bool_or(type = 'settle') then 'settled' else 'refunded' end, sum(charged))
        from ledger_entries where reservation_id = asked.id);
    elsif asked.account_id = any (busy) then
      answers[asked.member] := '"busy"';
    elsif asked.account_id <> all (locked) then
      answers[asked.member] := '"unknown"';
    else
      if asked.account_id <> current_account then
        current_account := asked.account_id;
        balance := asked.available;
        number := asked.entries;
      end if;
      covered := least(coalesce(asked.actual, 0), asked.amount);
      excess := greatest(coalesce(asked.actual, 0) - asked.amount, 0);
      number := number + 1;
      balance := balance + asked.amount - covered;
      entries := entries || row(asked.account_id, number, case when asked.actual is null then 'refund' else 'settle' end,
        0, asked.amount - covered, -asked.amount, covered, 0, balance, asked.at, asked.id, asked.grant_ids,
        ledger_returned(asked.parts, covered), asked.units)::ledger_entries;
      if excess > 0 then
        number := number + 1;
        balance := balance - excess;
        entries := entries || row(asked.account_id, number, 'charge', 0, -excess, 0, excess, 0, balance, asked.at,
          asked.id, '{}', '{}', null)::ledger_entries;
      end if;
      closed := closed || asked.id;
      answers[asked.member] := case when asked.actual is null then json_build_array('refunded', 0)
        else json_build_array('settled', asked.actual) end;
    end if;
  end loop;
  if entries is not null then
    insert into ledger_entries select entry.* from unnest(entries) as entry;
    delete from open_reservations where reservation_id = any (closed);
  end if;
  return array_to_json(answers);
end $$;

-- Holds credits: decides, in the order of asking, which reservations of locked accounts are admitted, and splits them
-- over the grants. Members of one account must stand together, in the order in which they came. Answers, in the order of
-- asking, the split as [[grant ids], [parts]] for whoever is admitted, or "balance", "key_limit", "busy", "unknown", or
-- "conflict" for an id that was used for something else. Whoever is late has been admitted from a purse that is gone: then
-- what is left is held.
create function ledger_reserve(
  moment timestamptz, busy text[], ids uuid[], account_ids text[], key_ids text[], amounts bigint[],
  request_ids text[], job_ids text[], models text[], endpoints text[], prices json[], late boolean[], owner text,
  lease_until timestamptz
) returns json language plpgsql as $$
declare
  asked record;
  answers json[];
  verdict text;
  amount bigint;
  current_account text := '';
  -- What the current account has left, and its grants in spending order, as earlier members leave them.
  balance bigint;
  number bigint;
  open_ids text[];
  open_parts bigint[];
  place integer;
  -- The keys with a limit met so far, and what each may still spend.
  limited_keys text[] := '{}';
  allowances bigint[] := '{}';
  key_place integer;
  to_take bigint;
  part bigint;
  split_ids text[];
  taken bigint[];
  given bigint[];
  held reservations[];
  entries ledger_entries[];
begin
  for asked in
    select m.*, b.account_id is null as unknown, b.available, b.entries, greatest(moment, b.updated_at) as at,
      api_keys.id is null as unknown_key,
      credit_limit - key_spending.held - case when credit_limit is null then 0 else
        spent_in_period(key_spending, credit_limit_reset, greatest(moment, b.updated_at)) end as allowance,
      earlier.id is not null as repeated, earlier.account_id = m.account_id and (m.late or earlier.amount = m.amount) as same,
      earlier.grant_ids, earlier.parts
    from unnest(ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints, prices, late) with ordinality
      as m (id, account_id, key_id, amount, request_id, job_id, model, endpoint, price, late, member)
    left join balances b on b.account_id = m.account_id
    left join reservations earlier on earlier.id = m.id
    left join api_keys on api_keys.id = m.key_id and api_keys.account_id = m.account_id
    left join key_spending on key_spending.key_id = api_keys.id
    order by m.member
  loop
    if asked.account_id <> current_account then
      if asked.account_id < current_account collate "C" then
        raise exception 'members must come in the order of their accounts';
      end if;
      current_account := asked.account_id;
      balance := asked.available;
      number := asked.entries;
      place := 1;
      select array_agg(id), array_agg(remaining) into open_ids, open_parts
      from (select id, remaining from grants where account_id = current_account and spendable
        order by expires_at, grants.number) as spending_order;
    end if;
    amount := case when asked.late then least(asked.amount, greatest(balance, 0)) else asked.amount end;
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
      when balance < amount and not asked.late then 'balance'
      when allowances[key_place] < amount and not asked.late then 'key_limit'
      else 'admitted' end;

    if verdict = 'repeated' then
      answers[asked.member] := json_build_array(asked.grant_ids, asked.parts);
    elsif verdict <> 'admitted' then
      answers[asked.member] := to_json(verdict);
    else
      number := number + 1;
      balance := balance - amount;
      if key_place is not null then allowances[key_place] := allowances[key_place] - amount; end if;
      to_take := amount;
      split_ids := '{}';
      taken := '{}';
      given := '{}';
      while to_take > 0 loop
        part := least(coalesce(open_parts[place], 0), to_take);
        if part > 0 then
          split_ids := split_ids || open_ids[place];
          taken := taken || part;
          given := given || -part;
          open_parts[place] := open_parts[place] - part;
          to_take := to_take - part;
        elsif place > cardinality(open_parts) then
          raise exception 'the grants of % do not hold its balance', current_account;
        else
          place := place + 1;
        end if;
      end loop;
      held := held || row(asked.id, amount, asked.at, asked.account_id, asked.key_id, split_ids, taken,
        asked.request_id, asked.job_id, asked.model, asked.endpoint, asked.price)::reservations;
      entries := entries || row(asked.account_id, number, 'reserve', 0, -amount, amount, 0, 0, balance,
        asked.at, asked.id, split_ids, given, null)::ledger_entries;
      answers[asked.member] := json_build_array(split_ids, taken);
    end if;
  end loop;
  if held is not null then
    insert into reservations select hold.* from unnest(held) as hold;
    insert into open_reservations (reservation_id, owner, lease_until)
      select hold.id, ledger_reserve.owner, ledger_reserve.lease_until from unnest(held) as hold;
    insert into ledger_entries select entry.* from unnest(entries) as entry;
  end if;
  return array_to_json(answers);
end $$;

-- One batch of endings and reservations, in one transaction. Endings come first: what they give back can be reserved.
-- Answers [endings' answers, reservations' answers]; "busy" members were not touched, because patience was 'skip' and
-- somebody else had their account.
--
-- Every look-up here is by a whole key. A plan made while the tables were small must still be right when they are not,
-- hence the settings.
create function ledger_run(
  moment timestamptz, patience text,
  end_ids uuid[], end_accounts text[], actuals bigint[], measured json[],
  ids uuid[], account_ids text[], key_ids text[], amounts bigint[], request_ids text[], job_ids text[], models text[],
  endpoints text[], prices json[], late boolean[], owner text, lease_until timestamptz
) returns json language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan as $$
declare
  accounts text[] := array(
    select unnest(account_ids) union select account_id from reservations where id = any (end_ids)
    union select unnest(end_accounts) except select null);
  busy text[] := ledger_lock(accounts, patience);
  ours text[] := accounts;
  ended json;
  reserved json;
begin
  if busy <> '{}' then ours := array(select unnest(accounts) except select unnest(busy)); end if;
  if cardinality(ids) > 1 and cardinality(ids) > (select count(distinct id) from unnest(ids) as id) then
    raise unique_violation using message = 'one id twice in one batch';
  end if;
  perform ledger_apply(ours);
  -- An account that is only named has nothing of what is ended.
  if end_ids <> '{}' then
    ours := array(select unnest(ours) intersect (
      select unnest(account_ids) union select account_id from reservations where id = any (end_ids)));
  end if;
  perform ledger_recall(ours, account_ids, amounts, end_ids, actuals);
  if end_ids <> '{}' then ended := ledger_end(moment, ours, busy, end_ids, end_accounts, actuals, measured); end if;
  perform ledger_tidy(moment, ours);
  if ids <> '{}' then
    reserved := ledger_reserve(moment, busy, ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints,
      prices, late, owner, lease_until);
  end if;
  return json_build_array(ended, reserved);
end $$;

-- Answers 'granted', or 'unknown' for an account that is not there, or 'duplicate' for a reference that is.
create or replace function ledger_grant(
  moment timestamptz, new_id text, new_account_id text, new_amount bigint, new_source text, new_reference text,
  new_expires_at timestamptz
) returns text language plpgsql as $$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- What was held before comes out of what was there before.
  perform ledger_apply(array[new_account_id]);
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

  -- A purse does not know which credits expire, or when.
  if new_expires_at is not null then delete from purses where account_id = new_account_id; end if;
  perform ledger_lapse(moment, array[new_account_id]);
  perform ledger_cover(moment, array[new_account_id]);
  return 'granted';
end $$;

-- The same rules of money for a third of the time. A batch of one, which is what a quiet hour is made of, spent most of
-- its time before any row was touched: on planning every statement again, on preparing statements of many parts, and on
-- reading the text of every check constraint.
--
-- Hence: plans are made once (every look-up is by a whole key, so there is one good plan); members are judged in a loop
-- that collects rows, and each table is written by one plain statement; and a table has one short check.

-- What each type of entry may move. Debits equal credits.
create function ledger_entry_is_sound(
  type text, granted bigint, available bigint, reserved bigint, charged bigint, lapsed bigint, reservation_id uuid
) returns boolean language plpgsql immutable as $$
begin
  return granted = available + reserved + charged + lapsed
    and (reservation_id is not null) = (type in ('reserve', 'settle', 'refund', 'charge'))
    and case type
      when 'grant'   then granted > 0 and available = granted and reserved = 0 and charged = 0
      when 'reserve' then granted = 0 and reserved >= 0 and available = -reserved and charged = 0
      when 'settle'  then granted = 0 and available >= 0 and charged >= 0 and reserved = -(available + charged)
      when 'refund'  then granted = 0 and available >= 0 and charged = 0 and reserved = -available
      when 'charge'  then granted = 0 and charged > 0 and available = -charged and reserved = 0
      when 'cover'   then granted = 0 and available = 0 and charged = 0 and reserved = 0
      when 'lapse'   then granted = 0 and lapsed > 0 and charged = 0 and reserved = 0
      else false end;
end $$;

alter table ledger_entries
  drop constraint ledger_entries_check, drop constraint ledger_entries_check1, drop constraint ledger_entries_check2,
  drop constraint ledger_entries_check3, drop constraint ledger_entries_number_check,
  add constraint ledger_entries_sound check (
    ledger_entry_is_sound(type, granted, available, reserved, charged, lapsed, reservation_id)
    and number > 0 and cardinality(grant_ids) = cardinality(parts));

alter table balances
  drop constraint balances_check, drop constraint balances_check1, drop constraint balances_reserved_check,
  drop constraint balances_charged_check, drop constraint balances_lapsed_check, drop constraint balances_debt_check,
  add constraint balances_sound check (
    granted = available + reserved + charged + lapsed and least(reserved, charged, lapsed, debt, available + debt) >= 0);

alter table key_spending
  drop constraint key_spending_held_check, drop constraint key_spending_spent_check,
  drop constraint key_spending_day_spent_check, drop constraint key_spending_week_spent_check,
  drop constraint key_spending_month_spent_check,
  add constraint key_spending_sound check (least(held, spent, day_spent, week_spent, month_spent) >= 0);

-- Settles (with an actual cost) or refunds (with null) reservations of locked accounts. What has ended already is left
-- as it is. Answers, in the order of asking, [state, charged] or "busy" or "unknown".
create or replace function ledger_end(
  moment timestamptz, locked text[], busy text[], ids uuid[], actuals bigint[], measured json[]
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
    select m.member, m.actual, m.units, r.id, r.account_id, r.amount, r.grant_ids, r.parts,
      o.reservation_id is not null as is_open, b.available, b.entries, greatest(moment, b.updated_at) as at
    from unnest(ids, actuals, measured) with ordinality as m (asked_id, actual, units, member)
    left join reservations r on r.id = m.asked_id
    left join open_reservations o on o.reservation_id = m.asked_id
    left join balances b on b.account_id = r.account_id
    order by r.account_id, m.member
  loop
    if asked.id is null then
      answers[asked.member] := '"unknown"';
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

drop function ledger_admit;

-- Holds credits: decides, in the order of asking, which reservations of locked accounts are admitted, and splits them
-- over the grants. Members of one account must stand together, in the order in which they came. Answers, in the order of
-- asking, the split as [[grant ids], [parts]] for whoever is admitted, or "balance", "key_limit", "busy", "unknown", or
-- "conflict" for an id that was used for something else.
create or replace function ledger_reserve(
  moment timestamptz, busy text[], ids uuid[], account_ids text[], key_ids text[], amounts bigint[],
  request_ids text[], job_ids text[], models text[], endpoints text[], prices json[], owner text, lease_until timestamptz
) returns json language plpgsql as $$
declare
  asked record;
  answers json[];
  verdict text;
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
      earlier.id is not null as repeated, earlier.account_id = m.account_id and earlier.amount = m.amount as same,
      earlier.grant_ids, earlier.parts
    from unnest(ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints, prices) with ordinality
      as m (id, account_id, key_id, amount, request_id, job_id, model, endpoint, price, member)
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
      when balance < asked.amount then 'balance'
      when allowances[key_place] < asked.amount then 'key_limit'
      else 'admitted' end;

    if verdict = 'repeated' then
      answers[asked.member] := json_build_array(asked.grant_ids, asked.parts);
    elsif verdict <> 'admitted' then
      answers[asked.member] := to_json(verdict);
    else
      number := number + 1;
      balance := balance - asked.amount;
      if key_place is not null then allowances[key_place] := allowances[key_place] - asked.amount; end if;
      to_take := asked.amount;
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
      held := held || row(asked.id, asked.amount, asked.at, asked.account_id, asked.key_id, split_ids, taken,
        asked.request_id, asked.job_id, asked.model, asked.endpoint, asked.price)::reservations;
      entries := entries || row(asked.account_id, number, 'reserve', 0, -asked.amount, asked.amount, 0, 0, balance,
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
create or replace function ledger_run(
  moment timestamptz, patience text,
  end_ids uuid[], actuals bigint[], measured json[],
  ids uuid[], account_ids text[], key_ids text[], amounts bigint[], request_ids text[], job_ids text[], models text[],
  endpoints text[], prices json[], owner text, lease_until timestamptz
) returns json language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan as $$
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
  -- Both are rare, and looking costs less than doing nothing.
  if exists (select from balances b join grants g using (account_id)
    where account_id = any (ours) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)) then
    perform ledger_lapse(moment, ours);
  end if;
  if exists (select from balances where account_id = any (ours) and debt > 0) then
    perform ledger_cover(moment, ours);
  end if;
  if ids <> '{}' then
    reserved := ledger_reserve(moment, busy, ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints,
      prices, owner, lease_until);
  end if;
  return json_build_array(ended, reserved);
end $$;

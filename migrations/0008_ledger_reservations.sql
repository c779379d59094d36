-- The ledger's rules for reservations: making, settling and refunding them, many in one transaction.

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
comment on function ledger_returned is
  'What is returned to each grant of a split when this much of it is charged: the charge uses up the split from its '
  'front.';

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
comment on function ledger_end is
  'Settles (actual cost given) or refunds (null) reservations of locked accounts; a reservation that has ended is '
  'left as it is, so a retry is harmless. Returns for each member [state, charged], "busy" or "unknown".';

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
  -- The keys and apps with a limit met so far, and what each may still spend.
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
      coalesce(api_keys.id, oauth_grants.id) is null as unknown_key,
      bound.amount - key_spending.held - case when bound.amount is null then 0 else
        spent_in_period(key_spending, bound.reset, greatest(moment, b.updated_at)) end as allowance,
      earlier.id is not null as repeated, earlier.account_id = m.account_id and (m.late or earlier.amount = m.amount) as same,
      earlier.grant_ids, earlier.parts
    from unnest(ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints, prices, late) with ordinality
      as m (id, account_id, key_id, amount, request_id, job_id, model, endpoint, price, late, member)
    left join balances b on b.account_id = m.account_id
    left join reservations earlier on earlier.id = m.id
    left join api_keys on api_keys.id = m.key_id and api_keys.account_id = m.account_id
    left join oauth_grants on oauth_grants.id = m.key_id and oauth_grants.account_id = m.account_id
    left join key_spending on key_spending.key_id = coalesce(api_keys.id, oauth_grants.id)
    cross join lateral (select coalesce(api_keys.credit_limit, oauth_grants.credit_limit),
      coalesce(api_keys.credit_limit_reset, oauth_grants.credit_limit_reset)) as bound (amount, reset)
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
    elsif verdict in ('balance', 'key_limit') then
      answers[asked.member] := json_build_object('reason', verdict, 'left',
        case when verdict = 'balance' then balance else allowances[key_place] end);
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
comment on function ledger_reserve is
  'Reserves credits of locked accounts: admits members in their order and splits each over the grants in spending '
  'order. Members of one account must be adjacent. Returns for each the split as [[grant ids], [parts]]; {"reason": '
  '"balance" or "key_limit", "left": micro-credits} for a refusal; "busy", "unknown", or "conflict" for an id used '
  'with other values. A late member was admitted from a purse that has been recalled since: as much as is left is '
  'reserved.';

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
comment on function ledger_run is
  'One batch of endings and reservations in one transaction; endings first, so that what they return can be reserved. '
  'Returns [answers of endings, answers of reservations]; "busy" members were not touched, since another transaction '
  'had their account locked and patience was "skip". Every look-up is by a whole key: the settings keep a plan made '
  'for small tables right for large ones, and keep it from being made again for every batch.';

-- The ledger's rules for reservations: making, settling and refunding them, many in one transaction.

create type ledger_change as (
  kind text,
  id uuid,
  account_id text,
  amount bigint,
  at_ms bigint,
  lease_ms bigint,
  key_id text,
  request_id text,
  job_id text,
  model text,
  endpoint text,
  price_id uuid,
  late boolean,
  units json
);
comment on type ledger_change is
  'One change of a reservation: the one shape of the JSON lists that ledger_commit and ledger_journal take.';
comment on column ledger_change.kind is 'reserve, settle or refund.';
comment on column ledger_change.id is 'The reservation.';
comment on column ledger_change.account_id is
  'Of an ending: where the journal may have the reservation; null for a job, which has none there.';
comment on column ledger_change.amount is 'Micro-credits to reserve or, of a settlement, to charge.';
comment on column ledger_change.at_ms is 'In the journal: when, in Unix milliseconds. ledger_commit has its own moment.';
comment on column ledger_change.lease_ms is 'In the journal: until when the reservation''s first lease lasts.';
comment on column ledger_change.late is
  'Of a reservation that was admitted from a purse which has been recalled since: it is never refused, and as much as is '
  'left is reserved.';

create function ledger_returned(parts bigint[], charged bigint) returns bigint[] language plpgsql immutable as $$
declare
  to_charge bigint := charged;
  charged_part bigint;
begin
  for index in 1 .. cardinality(parts) loop
    charged_part := least(parts[index], to_charge);
    to_charge := to_charge - charged_part;
    parts[index] := parts[index] - charged_part;
  end loop;
  return parts;
end $$;
comment on function ledger_returned is
  'What is returned to each grant of a split when this much of it is charged: the charge uses up the split from its '
  'front.';

create function ledger_end(
  moment timestamptz, locked text[], busy text[], changes ledger_change[], answers json[]
) returns json[] language plpgsql as $$
declare
  change record;
  current_account text := '';
  balance bigint;
  number bigint;
  covered bigint;
  excess bigint;
  new_entries ledger_entries[];
  closed uuid[] := '{}';
begin
  -- Ordered by account for the running figures; within an account first come, first served.
  for change in
    select c.ordinality as index, c.kind, c.account_id as named_account_id, c.units,
      case c.kind when 'settle' then c.amount else 0 end as actual, r.id, r.account_id, r.amount, r.grant_ids, r.parts,
      o.reservation_id is not null as is_open, b.available, b.entries, greatest(moment, b.updated_at) as at
    from unnest(changes) with ordinality as c
    left join reservations r on r.id = c.id
    left join open_reservations o on o.reservation_id = c.id
    left join balances b on b.account_id = r.account_id
    where c.kind <> 'reserve'
    order by r.account_id, c.ordinality
  loop
    if change.id is null then
      -- It may stand in the journal of an account that is locked elsewhere.
      answers[change.index] := case when change.named_account_id = any (busy) then '"busy"' else '"unknown"' end;
    elsif not change.is_open then
      answers[change.index] := (
        select json_build_array(case when bool_or(type = 'settle') then 'settled' else 'refunded' end, sum(charged))
        from ledger_entries where reservation_id = change.id);
    elsif change.account_id = any (busy) then
      answers[change.index] := '"busy"';
    elsif change.account_id <> all (locked) then
      answers[change.index] := '"unknown"';
    else
      if change.account_id <> current_account then
        current_account := change.account_id;
        balance := change.available;
        number := change.entries;
      end if;
      covered := least(change.actual, change.amount);
      excess := greatest(change.actual - change.amount, 0);
      number := number + 1;
      balance := balance + change.amount - covered;
      new_entries := new_entries || row(change.account_id, number, change.kind, 0, change.amount - covered, -change.amount,
        covered, 0, balance, change.at, change.id, change.grant_ids, ledger_returned(change.parts, covered),
        change.units)::ledger_entries;
      if excess > 0 then
        number := number + 1;
        balance := balance - excess;
        new_entries := new_entries || row(change.account_id, number, 'charge', 0, -excess, 0, excess, 0, balance, change.at,
          change.id, '{}', '{}', null)::ledger_entries;
      end if;
      closed := closed || change.id;
      answers[change.index] := json_build_array(case change.kind when 'settle' then 'settled' else 'refunded' end,
        change.actual);
    end if;
  end loop;
  if new_entries is not null then
    insert into ledger_entries select entry.* from unnest(new_entries) as entry;
    delete from open_reservations where reservation_id = any (closed);
  end if;
  return answers;
end $$;
comment on function ledger_end is
  'Settles or refunds reservations of locked accounts; a reservation that has ended is left as it is, so a retry is '
  'harmless. Answers each such change at its index: [state, charged], "busy" or "unknown".';

create function ledger_reserve(
  moment timestamptz, busy text[], changes ledger_change[], owner text, lease_until timestamptz, answers json[]
) returns json[] language plpgsql as $$
declare
  change record;
  verdict text;
  amount bigint;
  current_account text := '';
  -- What the current account has left, and its grants in spending order, as earlier changes of the list leave them.
  balance bigint;
  number bigint;
  open_ids text[];
  open_parts bigint[];
  open_index integer;
  -- The lineages, and the keys and apps with a limit, met so far, and what the list has reserved for each. Keys of one
  -- lineage may have different limits, so the allowance is computed for each change.
  spenders text[] := '{}';
  spender_reserved bigint[] := '{}';
  spender_index integer;
  allowance bigint;
  to_split bigint;
  part bigint;
  split_ids text[];
  split_parts bigint[];
  entry_parts bigint[];
  new_reservations reservations[];
  new_entries ledger_entries[];
begin
  for change in
    select c.*, coalesce(c.late, false) as is_late, b.account_id is null as unknown, b.available, b.entries, greatest(moment, b.updated_at) as at,
      coalesce(api_keys.id, oauth_grants.id) is null as unknown_key,
      bound.amount - key_spending.held - case when bound.amount is null then 0 else
        spent_in_period(key_spending, bound.reset, greatest(moment, b.updated_at)) end
        - coalesce(siblings.used, 0) as allowance,
      coalesce(api_keys.lineage, case when bound.amount is not null then c.key_id end) as spender,
      earlier.id is not null as repeated, earlier.account_id = c.account_id and (coalesce(c.late, false) or earlier.amount = c.amount) as same,
      earlier.grant_ids, earlier.parts
    from unnest(changes) with ordinality as c
    left join balances b on b.account_id = c.account_id
    left join reservations earlier on earlier.id = c.id
    left join api_keys on api_keys.id = c.key_id and api_keys.account_id = c.account_id
    left join oauth_grants on oauth_grants.id = c.key_id and oauth_grants.account_id = c.account_id
    left join key_spending on key_spending.key_id = coalesce(api_keys.id, oauth_grants.id)
    cross join lateral (select coalesce(api_keys.credit_limit, oauth_grants.credit_limit),
      coalesce(api_keys.credit_limit_reset, oauth_grants.credit_limit_reset)) as bound (amount, reset)
    left join lateral (
      select sum(figures.held + spent_in_period(figures, bound.reset, greatest(moment, b.updated_at))) as used
      from api_keys sibling join key_spending figures on figures.key_id = sibling.id
      where bound.amount is not null and sibling.lineage = api_keys.lineage and sibling.id <> api_keys.id
    ) as siblings on true
    where c.kind = 'reserve'
    order by c.account_id, c.ordinality
  loop
    if change.account_id <> current_account then
      current_account := change.account_id;
      balance := change.available;
      number := change.entries;
      open_index := 1;
      select array_agg(id), array_agg(remaining) into open_ids, open_parts
      from (select id, remaining from grants where account_id = current_account and spendable
        order by expires_at, grants.number) as spending_order;
    end if;
    amount := case when change.is_late then least(change.amount, greatest(balance, 0)) else change.amount end;
    spender_index := null;
    if change.spender is not null then
      spender_index := array_position(spenders, change.spender);
      if spender_index is null then
        spenders := spenders || change.spender;
        spender_reserved := spender_reserved || 0::bigint;
        spender_index := cardinality(spenders);
      end if;
    end if;
    allowance := change.allowance - spender_reserved[spender_index];

    verdict := case
      when change.unknown or (change.key_id is not null and change.unknown_key) then 'unknown'
      when change.account_id = any (busy) then 'busy'
      when change.repeated then case when change.same then 'repeated' else 'conflict' end
      when balance < amount and not change.is_late then 'balance'
      when allowance < amount and not change.is_late then 'key_limit'
      else 'admitted' end;

    if verdict = 'repeated' then
      answers[change.ordinality] := json_build_array(change.grant_ids, change.parts);
    elsif verdict in ('balance', 'key_limit') then
      answers[change.ordinality] := json_build_object('reason', verdict, 'left',
        case when verdict = 'balance' then balance else allowance end);
    elsif verdict <> 'admitted' then
      answers[change.ordinality] := to_json(verdict);
    else
      number := number + 1;
      balance := balance - amount;
      if spender_index is not null then
        spender_reserved[spender_index] := spender_reserved[spender_index] + amount;
      end if;
      to_split := amount;
      split_ids := '{}';
      split_parts := '{}';
      entry_parts := '{}';
      while to_split > 0 loop
        part := least(coalesce(open_parts[open_index], 0), to_split);
        if part > 0 then
          split_ids := split_ids || open_ids[open_index];
          split_parts := split_parts || part;
          entry_parts := entry_parts || -part;
          open_parts[open_index] := open_parts[open_index] - part;
          to_split := to_split - part;
        elsif open_index > cardinality(open_parts) then
          raise exception 'the grants of % do not hold its balance', current_account;
        else
          open_index := open_index + 1;
        end if;
      end loop;
      new_reservations := new_reservations || row(change.id, amount, change.at, change.account_id, change.key_id, split_ids,
        split_parts, change.request_id, change.job_id, change.model, change.endpoint, change.price_id)::reservations;
      new_entries := new_entries || row(change.account_id, number, 'reserve', 0, -amount, amount, 0, 0, balance,
        change.at, change.id, split_ids, entry_parts, null)::ledger_entries;
      answers[change.ordinality] := json_build_array(split_ids, split_parts);
    end if;
  end loop;
  if new_reservations is not null then
    insert into reservations select new.* from unnest(new_reservations) as new;
    insert into open_reservations (reservation_id, owner, lease_until)
      select new.id, ledger_reserve.owner, ledger_reserve.lease_until from unnest(new_reservations) as new;
    insert into ledger_entries select entry.* from unnest(new_entries) as entry;
  end if;
  return answers;
end $$;
comment on function ledger_reserve is
  'Reserves credits of locked accounts: admits an account''s changes in their order and splits each over the grants in '
  'spending order. Answers each such change at its index: the split as [[grant ids], [parts]]; {"reason": "balance" or '
  '"key_limit", "left": micro-credits} for a refusal; "busy", "unknown", or "conflict" for an id used with other values.';

create function ledger_commit(
  moment timestamptz, lock_mode text, changes json, new_prices json, owner text, lease_until timestamptz
) returns json language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan as $$
declare
  list ledger_change[] := array(select change from json_populate_recordset(null::ledger_change, changes) as change);
  -- Of an ending, the account that it names and the one that its reservation has: it may stand in the journal only.
  named text[] := array(
    select account_id from unnest(list) as change where account_id is not null
    union select r.account_id from unnest(list) as change join reservations r on r.id = change.id where kind <> 'reserve');
  busy text[] := ledger_lock(named, lock_mode);
  locked text[] := named;
  answers json[] := '{}';
begin
  if busy <> '{}' then locked := array(select unnest(named) except select unnest(busy)); end if;
  if exists (select from unnest(list) as change where kind = 'reserve' group by id having count(*) > 1) then
    raise unique_violation using message = 'one id twice in one list of changes';
  end if;
  perform ledger_post(locked);
  -- An account that is only named, or whose reservations have all ended before, has nothing to change.
  locked := array(select unnest(locked) intersect (
    select account_id from unnest(list) as change where kind = 'reserve'
    union select r.account_id from unnest(list) as change join open_reservations o on o.reservation_id = change.id
      join reservations r on r.id = change.id where kind <> 'reserve'));
  perform ledger_recall(locked, list);
  answers := ledger_end(moment, locked, busy, list, answers);
  perform ledger_lapse_and_cover(moment, locked);
  insert into prices select key::uuid, value from json_each(new_prices) order by key on conflict do nothing;
  answers := ledger_reserve(moment, busy, list, owner, lease_until, answers);
  return array_to_json(answers);
end $$;
comment on function ledger_commit is
  'Makes a list of changes in one transaction; endings first, so that what they return can be reserved. Answers each at '
  'its index; a "busy" one was not made, since another transaction had its account locked and the lock mode was "skip". '
  'new_prices has the prices that they name by their ids; they are stored in the order of ids and under the accounts'' '
  'locks, which excludes deadlocks. '
  'Every look-up is by a whole key: the settings keep a plan made for small tables right for large ones, and keep it from '
  'being made again for every commit.';

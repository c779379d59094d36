-- Making entries of the journal takes the database more time than anything else that a call does. Nearly every hold comes
-- out of one grant, and then there is no list to take apart.

-- As before.
create or replace function ledger_apply(account_ids text[]) returns void language plpgsql as $$
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return; end if;

  with taken as (
    delete from ledger_journal where account_id = any (account_ids)
    returning account_id, number, purse_id, owner, members
  ),
  said as materialized (
    select taken.account_id, purse_id, owner, row_number() over (order by number, line) as place, id, held,
      to_timestamp(held_ms::float8 / 1000) as held_at, to_timestamp(lease_ms::float8 / 1000) as lease_until, key_id,
      request_id, model, endpoint, price, to_timestamp(ended_ms::float8 / 1000) as ended_at, actual, units
    from taken cross join lateral rows from (json_to_recordset(members) as (
      id uuid, held bigint, held_ms bigint, lease_ms bigint, key_id text, request_id text, model text, endpoint text,
      price json, ended_ms bigint, actual bigint, units json)) with ordinality as told (
      id, held, held_ms, lease_ms, key_id, request_id, model, endpoint, price, ended_ms, actual, units, line)
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
      0 as charged, grant_ids, case cardinality(parts) when 1 then array[-parts[1]]
        else array(select -part from unnest(parts) as part) end as parts, null::json as units
    from holds
    union all
    select account_id, place, 2, case when actual is null then 'refund' else 'settle' end, ended_at, id,
      amount - covered, -amount, covered, grant_ids, case cardinality(parts) when 1 then array[parts[1] - covered]
        else ledger_returned(parts, covered) end, units
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

-- As before. What belongs to one reservation is added up before its key is looked for, which is most of the looking.
create or replace function ledger_derive() returns trigger language plpgsql as $$
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

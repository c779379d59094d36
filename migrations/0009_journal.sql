-- What a process writes into the journal at one time about one account is one row, however many calls it tells of: a caller
-- waits for it, and whatever it costs the database, it costs for every call.

-- What is there is entered as it is.
select ledger_catch_up(array(select distinct account_id from ledger_journal), 'wait');
drop table ledger_journal;

-- What has happened and has no entries yet, in the order in which it happened. Its file stays as long as it was: to make it
-- shorter keeps writers out.
create table ledger_journal (
  account_id text not null,
  number bigint generated always as identity,
  purse_id uuid not null,
  -- Owns what is held; see reservation_owners.
  owner text not null,
  -- A list of holds, ends of holds, or both in one; see ledger_apply.
  members json not null,
  primary key (account_id, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);

-- As before, from such rows.
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

-- Whoever goes on until nothing is left must not count accounts that somebody else has: then it would never end.
drop function ledger_catch_up_some;
drop function ledger_catch_up;

-- Makes entries of what the journal says about these accounts. Answers for how many it did.
create function ledger_catch_up(account_ids text[], patience text) returns integer language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan as $$
declare
  busy text[];
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return 0; end if;
  busy := ledger_lock(account_ids, patience);
  if busy <> '{}' then account_ids := array(select unnest(account_ids) except select unnest(busy)); end if;
  perform ledger_apply(account_ids);
  -- At the account's own time.
  perform ledger_tidy('-infinity', account_ids);
  return cardinality(account_ids);
end $$;

-- The same for whatever accounts there are, apart from those that somebody else has.
create function ledger_catch_up_some(accounts_max integer) returns integer language plpgsql as $$
begin
  return ledger_catch_up(array(select distinct account_id from ledger_journal limit accounts_max), 'skip');
end $$;

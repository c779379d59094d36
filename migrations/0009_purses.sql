-- Purses: calls of a busy account without a wait for the account's lock.
--
-- A process may draw some of an account's credits into a purse and reserve from it in memory. It writes reservations
-- and endings to the journal, one row per write: that row is the fact, and committing it costs a tenth of the entries.
-- The entries are made from it later, many at once, before any read of them or any decision about the account.
--
-- A purse never causes a refusal: a reservation that would be refused without the purse's credits recalls the purse
-- first. The purse's process notices when it next writes, and then reserves from the account.

create table purses (
  id uuid primary key,
  account_id text not null references accounts,
  process_id text not null,
  amount bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
comment on table purses is
  'Credits of an account that a process has drawn in advance. Deleting the row recalls the purse.';
comment on column purses.amount is
  'Set aside from all other reservations: what the process has not reserved of it yet, and what it has but is still '
  'in the journal.';

create index purses_account on purses (account_id);

create table ledger_journal (
  account_id text not null,
  number bigint generated always as identity,
  purse_id uuid not null,
  owner text not null,
  members json not null,
  primary key (account_id, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
comment on table ledger_journal is
  'Reservations and endings made from purses that have no entries yet, in their order. Vacuum does not truncate its '
  'file, since that would lock writers out.';
comment on column ledger_journal.owner is 'Process that owns the reservations; see reservation_owners.';
comment on column ledger_journal.members is
  'List of reservations, endings, or both in one, of all calls that were written at one time; see ledger_apply.';

create function ledger_apply(account_ids text[]) returns void language plpgsql as $$
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
comment on function ledger_apply is
  'Makes entries of the journal of locked accounts. It cannot fail for want of credits: purses have set them aside, '
  'and should they be gone nevertheless, less is reserved and the ending is charged in full. Most reservations come '
  'from one grant, and then no array is taken apart: this is most of what a call costs the database.';

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
comment on function ledger_recall is
  'Recalls the purses of locked accounts that would otherwise lack the credits for a batch: for its reservations, or '
  'for charges above the reserved amount. What the purses'' processes had written until then is applied.';

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
comment on function ledger_fill_purse is
  'Draws credits into a new or an existing purse: up to the wanted amount, at most a quarter of what no purse has set '
  'aside. Returns how much, 0 where it would be too little or a grant expires soon, null where the purse has been '
  'recalled.';

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
comment on function ledger_catch_up is
  'Makes entries of the journal of these accounts. Returns for how many accounts it did.';

create function ledger_catch_up_some(accounts_max integer) returns integer language plpgsql as $$
begin
  return ledger_catch_up(array(select distinct account_id from ledger_journal limit accounts_max), 'skip');
end $$;
comment on function ledger_catch_up_some is
  'The same for any accounts with a journal, apart from those that another transaction has locked: a loop until 0 '
  'ends.';

-- Purses: calls of a busy account without a wait for the account's lock.
--
-- A process may draw some of an account's credits into a purse and reserve from it in memory. It writes reservations
-- and endings to the journal, one row per write: that row is the fact, and committing it costs a tenth of the entries.
-- It is posted later, many rows at once, before any decision about the account: its entries are made, and it is deleted.
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
  changes json not null,
  prices json not null,
  primary key (account_id, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false);
comment on table ledger_journal is
  'Reservations and endings made from purses that have no entries yet, in their order. Vacuum does not truncate its '
  'file, since that would lock writers out.';
comment on column ledger_journal.owner is 'Process that owns the reservations; see reservation_owners.';
comment on column ledger_journal.changes is
  'List of all changes that were written from the purse at one time; see ledger_change.';
comment on column ledger_journal.prices is
  'The prices that the changes written at that time name, each by its id: once per row, since most calls of a moment have '
  'the same.';

create function ledger_journal_entries(lines ledger_journal[]) returns table (
  account_id text, number bigint, type text, available bigint, reserved bigint, charged bigint, balance bigint,
  created_at timestamptz, reservation_id uuid, grant_ids text[], parts bigint[], units json,
  -- Of a reservation that begins:
  reserved_at timestamptz, lease_until timestamptz, owner text, purse_id uuid, drawn bigint, key_id text,
  request_id text, model text, endpoint text, price_id uuid
) language plpgsql stable as $$
#variable_conflict use_column
declare
  account_ids text[] := array(select distinct line.account_id from unnest(lines) as line);
begin
  return query
  with changes as materialized (
    select line.account_id, line.purse_id, line.owner,
      row_number() over (order by line.number, change.ordinality) as position, change.kind, change.id, change.amount,
      to_timestamp(change.at_ms::float8 / 1000) as at, to_timestamp(change.lease_ms::float8 / 1000) as lease_until,
      change.key_id, change.request_id, change.model, change.endpoint, change.price_id, change.units
    from unnest(lines) as line
    cross join lateral json_populate_recordset(null::ledger_change, line.changes) with ordinality as change
  ),
  -- The reserved credits laid end to end, beside the credits of the grants in spending order: where the two intervals
  -- overlap, the reservation is paid from the grant.
  new_reservations as (
    select *, (sum(amount) over earlier - amount)::bigint as starts_at, (sum(amount) over earlier)::bigint as ends_at
    from changes
    where kind = 'reserve' and (select r.id from reservations r where r.id = changes.id) is null
    window earlier as (partition by account_id order by position)
  ),
  spendable as materialized (
    select account_id, id as grant_id, row_number() over sooner as turn,
      (sum(remaining) over sooner - remaining)::bigint as starts_at, (sum(remaining) over sooner)::bigint as ends_at
    from grants where account_id = any (account_ids) and spendable
    window sooner as (partition by account_id order by expires_at, number)
  ),
  reservations_split as materialized (
    select new.*, coalesce(split.amount, 0) as reserved, coalesce(split.grant_ids, '{}') as grant_ids,
      coalesce(split.parts, '{}') as parts
    from new_reservations new cross join lateral (
      select sum(part)::bigint as amount, array_agg(grant_id order by turn) as grant_ids,
        array_agg(part order by turn) as parts
      from (
        select grant_id, turn, least(spendable.ends_at, new.ends_at) - greatest(spendable.starts_at, new.starts_at) as part
        from spendable where spendable.account_id = new.account_id
      ) as overlap
      where part > 0
    ) as split
  ),
  -- A reservation that begins here is the first change of its id. A window finds it in the order of n log n, where a join of
  -- the two lists would compare each with each.
  by_id as (
    select *, first_value(reserved) over same_id as begun_amount, first_value(grant_ids) over same_id as begun_grant_ids,
      first_value(parts) over same_id as begun_parts
    from (
      select account_id, position, kind, id, amount, at, units, reserved, grant_ids, parts from reservations_split
      union all
      select account_id, position, kind, id, amount, at, units, null, null, null from changes where kind <> 'reserve'
    ) as change
    window same_id as (partition by id order by position)
  ),
  -- Of several endings of one reservation the first counts.
  endings as materialized (
    select distinct on (id) *, least(actual, reserved) as covered
    from (
      select by_id.account_id, by_id.position, by_id.id, by_id.at, by_id.units, by_id.kind,
        case by_id.kind when 'settle' then by_id.amount else 0 end as actual,
        coalesce(begun_amount, r.amount) as reserved, coalesce(begun_grant_ids, r.grant_ids) as grant_ids,
        coalesce(begun_parts, r.parts) as parts
      from by_id
      left join open_reservations on open_reservations.reservation_id = by_id.id
      left join reservations r on r.id = open_reservations.reservation_id
      where by_id.kind <> 'reserve' and (begun_amount is not null or r.id is not null)
    ) as ending
    order by id, position
  ),
  entries as (
    select account_id, position, 1 as step, 'reserve' as type, -reserved as available, reserved, 0::bigint as charged, at,
      id, grant_ids, case cardinality(parts) when 1 then array[-parts[1]]
        else array(select -part from unnest(parts) as part) end as parts, null::json as units,
      lease_until, owner, purse_id, amount as drawn, key_id, request_id, model, endpoint, price_id
    from reservations_split
    union all
    select account_id, position, 2, kind, reserved - covered, -reserved, covered, at, id, grant_ids,
      case cardinality(parts) when 1 then array[parts[1] - covered] else ledger_returned(parts, covered) end, units,
      null, null, null, null, null, null, null, null, null
    from endings
    union all
    select account_id, position, 3, 'charge', reserved - actual, 0, actual - reserved, at, id, '{}', '{}', null,
      null, null, null, null, null, null, null, null, null
    from endings where actual > reserved
  )
  select entries.account_id, b.entries + row_number() over so_far, entries.type, entries.available, entries.reserved,
    entries.charged, (b.available + sum(entries.available) over so_far)::bigint,
    greatest(b.updated_at, max(entries.at) over so_far), entries.id, entries.grant_ids, entries.parts, entries.units,
    entries.at, entries.lease_until, entries.owner, entries.purse_id, entries.drawn, entries.key_id, entries.request_id,
    entries.model, entries.endpoint, entries.price_id
  from entries join balances b on b.account_id = entries.account_id
  window so_far as (partition by entries.account_id order by entries.position, entries.step);
end $$;
comment on function ledger_journal_entries is
  'The entries that rows of the journal become; those of type "reserve" with what their reservation has. Reads only: '
  'ledger_post inserts them, and the views show them before that. It cannot fail for want of credits: purses have set them '
  'aside, and should they be gone nevertheless, less is reserved and the settlement is charged in full. Most reservations '
  'are paid from one grant, and then no array is taken apart: this is most of what a call costs the database.';

create function ledger_post(account_ids text[]) returns void language plpgsql as $$
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return; end if;

  with lines as (
    delete from ledger_journal where account_id = any (account_ids) returning ledger_journal as line
  ),
  posted as materialized (
    select * from ledger_journal_entries(array(select line from lines))
  ),
  new_prices as (
    insert into prices select distinct on (price.key) price.key::uuid, price.value
    from lines cross join lateral json_each((lines.line).prices) as price
    order by price.key
    on conflict do nothing
  ),
  new_entries as (
    insert into ledger_entries
      (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
      grant_ids, parts, units)
    select account_id, number, type, 0, available, reserved, charged, 0, balance, created_at, reservation_id,
      grant_ids, parts, units
    from posted
  ),
  new_reservations as (
    insert into reservations (id, amount, created_at, account_id, key_id, grant_ids, parts, request_id, model, endpoint,
      price_id)
    select reservation_id, reserved, reserved_at, account_id, key_id, grant_ids,
      case cardinality(parts) when 1 then array[-parts[1]] else array(select -part from unnest(parts) as part) end,
      request_id, model, endpoint, price_id
    from posted where type = 'reserve'
  ),
  opened as (
    insert into open_reservations (reservation_id, owner, lease_until)
    select reservation_id, owner, lease_until from posted
    where type = 'reserve'
      and reservation_id not in (select reservation_id from posted where type in ('settle', 'refund'))
  ),
  closed as (
    delete from open_reservations
    where reservation_id = any (array(select reservation_id from posted where type in ('settle', 'refund')))
  )
  update purses set amount = purses.amount - drawn.amount
  from (
    select purse_id, sum(drawn)::bigint as amount from posted where type = 'reserve' group by purse_id
  ) as drawn
  where purses.id = drawn.purse_id;
end $$;
comment on function ledger_post is
  'Posts the journal of locked accounts: deletes its rows and inserts the entries, reservations and prices that they '
  'become.';

create function ledger_recall(locked text[], changes ledger_change[]) returns void language plpgsql as $$
begin
  if not exists (select from purses where account_id = any (locked)) then return; end if;

  delete from purses where account_id = any (locked) and account_id in (
    select account_id
    from (
      select account_id, sum(amount) as amount
      from (
        select account_id, amount from unnest(changes) as change where kind = 'reserve'
        union all
        select r.account_id, change.amount - r.amount
        from unnest(changes) as change join reservations r on r.id = change.id
        where change.kind = 'settle' and change.amount > r.amount
      ) as need
      group by account_id
    ) as needed
    join balances b using (account_id)
    where b.available - (select coalesce(sum(p.amount), 0) from purses p where p.account_id = needed.account_id)
      < needed.amount);
  if found then perform ledger_post(locked); end if;
end $$;
comment on function ledger_recall is
  'Recalls the purses of locked accounts that would otherwise lack the credits for these changes: for reservations, or for '
  'charges above the reserved amount. What the purses'' processes had written until then is posted.';

create function ledger_fill_purse(
  purse_id uuid, is_new boolean, new_account_id text, new_process_id text, wanted bigint, enough bigint, until timestamptz
) returns bigint language plpgsql as $$
declare
  added bigint;
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- A purse does not know which credits expire, or when.
  if exists (select from grants where account_id = new_account_id and spendable and expires_at <= until) then
    return 0;
  end if;
  select least(wanted, (available - (select coalesce(sum(amount), 0) from purses where account_id = new_account_id)) / 4)
    into added from balances where account_id = new_account_id;
  if added is null or added < enough then return 0; end if;
  if is_new then
    insert into purses (id, account_id, process_id, amount) values (purse_id, new_account_id, new_process_id, added);
  else
    update purses set amount = amount + added where id = purse_id;
    if not found then return null; end if;
  end if;
  return added;
end $$;
comment on function ledger_fill_purse is
  'Draws credits into a new or an existing purse: up to the wanted amount, at most a quarter of what no purse has set '
  'aside. Returns how much, 0 where it would be too little or a grant expires soon, null where the purse has been '
  'recalled.';

create function ledger_post_journal(account_ids text[], lock_mode text) returns integer language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan as $$
declare
  busy text[];
begin
  if not exists (select from ledger_journal where account_id = any (account_ids)) then return 0; end if;
  busy := ledger_lock(account_ids, lock_mode);
  if busy <> '{}' then account_ids := array(select unnest(account_ids) except select unnest(busy)); end if;
  perform ledger_post(account_ids);
  -- At the account's own time.
  perform ledger_lapse_and_cover('-infinity', account_ids);
  return cardinality(account_ids);
end $$;
comment on function ledger_post_journal is
  'Posts the journal of these accounts under their locks. Returns how many accounts it posted.';

create function ledger_post_some(accounts_max integer) returns integer language plpgsql as $$
begin
  return ledger_post_journal(array(select distinct account_id from ledger_journal limit accounts_max), 'skip');
end $$;
comment on function ledger_post_some is
  'The same for any accounts with a journal, without those that another transaction has locked: a loop that ends with the '
  'first incomplete batch ends.';

-- Views for reports in SQL: the same figures as the tables, with what still stands in the journal. A query of them sees one
-- snapshot, needs no lock and writes nothing.

create view ledger_unposted_entries as
select entry.* from ledger_journal_entries(array(select line from ledger_journal as line)) as entry;
comment on view ledger_unposted_entries is
  'The entries that the journal will become when it is posted.';

create view ledger_entries_now as
select account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, reservation_id,
  grant_ids, parts, units
from ledger_entries
union all
select account_id, number, type, 0, available, reserved, charged, 0, balance, created_at, reservation_id, grant_ids, parts,
  units
from ledger_unposted_entries;
comment on view ledger_entries_now is
  'ledger_entries with those that still stand in the journal. Numbers and balances of the latter may shift until they are '
  'posted.';

create view reservations_now as
with unposted as materialized (
  select account_id, type, reserved, charged, created_at, reservation_id, reserved_at, key_id, request_id, model, endpoint,
    price_id
  from ledger_unposted_entries
),
begun as (
  select r.id, account_id, key_id, amount, created_at, request_id, job_id, model, endpoint, price
  from reservations r left join prices on prices.id = price_id
  union all
  select reservation_id, account_id, key_id, reserved, reserved_at, request_id, null, model, endpoint,
    (select line.prices -> price_id::text from ledger_journal as line where line.prices -> price_id::text is not null limit 1)
  from unposted where type = 'reserve'
)
select begun.*,
  case coalesce(posted.type, unposted.type) when 'settle' then 'settled' when 'refund' then 'refunded' else 'open' end
    as status,
  coalesce(posted.charged, unposted.charged, 0) as charged,
  coalesce(posted.ended_at, unposted.ended_at) as ended_at
from begun
left join lateral (
  select max(type) filter (where type <> 'charge') as type, sum(charged)::bigint as charged, max(created_at) as ended_at
  from ledger_entries where reservation_id = begun.id and type <> 'reserve'
  having count(*) > 0
) as posted on true
left join (
  select reservation_id, max(type) filter (where type <> 'charge') as type, sum(charged)::bigint as charged,
    max(created_at) as ended_at
  from unposted where type <> 'reserve' group by reservation_id
) as unposted on unposted.reservation_id = begun.id;
comment on view reservations_now is
  'Every reservation with how it stands: open, settled or refunded, what was charged, and when it ended.';

create view grants_now as
select id, account_id, amount,
  case when expires_at <= now() then 0 else remaining + coalesce(unposted.part, 0) end as remaining, source, reference,
  expires_at, created_at
from grants left join (
  select split.grant_id, sum(split.part)::bigint as part
  from ledger_unposted_entries as entry cross join unnest(entry.grant_ids, entry.parts) as split (grant_id, part)
  group by split.grant_id
) as unposted on unposted.grant_id = grants.id;
comment on view grants_now is 'Grants with what remains of them now; nothing does of an expired one.';

create view balances_now as
with unposted as materialized (
  select account_id, available, reserved, charged, grant_ids, parts from ledger_unposted_entries
),
moved as (
  select account_id, sum(available)::bigint as available, sum(reserved)::bigint as reserved, sum(charged)::bigint as charged
  from unposted group by account_id
),
expired as (
  select account_id, sum(remaining)::bigint as amount
  from (
    select g.account_id, g.remaining from grants g join balances b using (account_id)
    where g.spendable and g.expires_at <= greatest(now(), b.updated_at)
    union all
    select g.account_id, split.part
    from unposted cross join unnest(unposted.grant_ids, unposted.parts) as split (grant_id, part)
    join grants g on g.id = split.grant_id join balances b on b.account_id = g.account_id
    where g.expires_at <= greatest(now(), b.updated_at)
  ) as part
  group by account_id
)
select b.account_id, b.granted, b.available + coalesce(moved.available, 0) - coalesce(expired.amount, 0) as available,
  b.reserved + coalesce(moved.reserved, 0) as reserved, b.charged + coalesce(moved.charged, 0) as charged,
  b.lapsed + coalesce(expired.amount, 0) as lapsed
from balances b
left join moved on moved.account_id = b.account_id
left join expired on expired.account_id = b.account_id;
comment on view balances_now is
  'The balance of every account now. What has expired counts as lapsed, whether or not its entry has been made.';

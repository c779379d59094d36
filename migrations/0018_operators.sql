-- What operators need: credits that are taken back, grants that are corrected, books that do not slow down with history,
-- and lists over all accounts.

-- A grant below zero takes unspent credits back. Its row has the amount and holds nothing.
alter table grants
  drop constraint grants_amount_check, drop constraint grants_check,
  add constraint grants_sound check (amount <> 0 and remaining between 0 and greatest(amount, 0));

-- As before, and 'revoke'.
create or replace function ledger_entry_is_sound(type text, granted bigint, available bigint, reserved bigint,
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

-- Takes credits back from the grants in the order of spending: 'revoked', or why not. After 'short' the transaction must
-- be rolled back. The entry's first grant is the new row itself, of which nothing is taken: it says which it belongs to.
create function ledger_revoke(moment timestamptz, new_id text, new_account_id text, taken bigint, new_source text,
  new_reference text) returns text language plpgsql as $$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  if not exists (select from balances where account_id = new_account_id) then return 'unknown'; end if;

  -- Before the balance is looked at: a repeat is told that it is one, and not that the credits are gone.
  insert into grants (id, account_id, amount, source, reference, created_at)
    values (new_id, new_account_id, -taken, new_source, new_reference, moment)
    on conflict (reference) do nothing;
  if not found then return 'duplicate'; end if;

  -- Purses first: once they are gone, no line can be written that is not applied here.
  delete from purses where account_id = new_account_id;
  perform ledger_apply(array[new_account_id]);
  perform ledger_tidy(moment, array[new_account_id]);
  if (select available from balances where account_id = new_account_id) < taken then return 'short'; end if;

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + 1, 'revoke', -taken, -taken, 0, 0, 0, available - taken, greatest(moment, updated_at),
    new_id || split.grant_ids, 0::bigint || split.parts
  from balances cross join (
    select array_agg(grant_id order by place) as grant_ids,
      array_agg(-least(remaining, taken - before) order by place) as parts
    from (
      select id as grant_id, remaining, row_number() over spending as place,
        (sum(remaining) over spending - remaining)::bigint as before
      from grants where account_id = new_account_id and spendable
      window spending as (order by expires_at, number)
    ) as payer
    where before < taken
  ) as split
  where account_id = new_account_id;
  return 'revoked';
end $$;

-- Changes what a grant says about itself; what it holds is changed by entries alone. Null leaves the source or the
-- reference as it is. 'changed', or why not.
create function ledger_correct_grant(moment timestamptz, grant_id text, new_source text, new_reference text,
  sets_expiry boolean, new_expires_at timestamptz) returns text language plpgsql as $$
declare
  owner_id text := (select account_id from grants where id = grant_id);
begin
  if owner_id is null then return 'unknown'; end if;
  perform ledger_lock(array[owner_id], 'wait');
  -- What was held before comes out of the grants as they were before.
  delete from purses where account_id = owner_id and sets_expiry;
  perform ledger_apply(array[owner_id]);
  perform ledger_tidy(moment, array[owner_id]);
  if sets_expiry and exists (select from grants g join balances b using (account_id)
    where g.id = grant_id and (g.amount < 0 or g.expires_at <= greatest(moment, b.updated_at))) then
    return 'over';
  end if;
  if exists (select from grants where reference = new_reference and id <> grant_id) then return 'duplicate'; end if;
  update grants set source = coalesce(new_source, source), reference = coalesce(new_reference, reference),
    expires_at = case when sets_expiry then new_expires_at else expires_at end
  where id = grant_id;
  return 'changed';
end $$;

-- What the last check of the books has found right, so that the next one only adds up what came after it: the figures of
-- each account, grant and key as they were then.
create table ledger_checkpoints (
  kind text not null check (kind in ('balances', 'grants', 'key_spending')),
  id text not null,
  figures bigint[] not null,
  primary key (kind, id)
);

-- Counts the times that checkpoints were written. They are of one moment: a check writes its own only if no other has
-- written any since it read them.
create table ledger_checks (
  only_row boolean primary key default true check (only_row),
  generation bigint not null
);
insert into ledger_checks (generation) values (0);

-- Lists and sums over all accounts. Summaries of whole ranges of pages: they cost a call nothing.
create index reservations_by_time on reservations using brin (created_at) with (autosummarize = on);
create index ledger_entries_by_time on ledger_entries using brin (created_at) with (autosummarize = on);
create index jobs_all_newest on jobs (created_at desc, id desc);

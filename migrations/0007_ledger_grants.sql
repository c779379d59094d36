-- The ledger's rules for grants: locking, lapsing, covering debt, granting, revoking, correcting.
--
-- Rules are functions and not statements of the program: a rule must lock an account first and read it after that.
-- Within one statement the read would use the snapshot from before the lock; a function takes a new snapshot for each
-- statement, and still costs one round trip.

create function ledger_lock(account_ids text[], lock_mode text) returns text[] language plpgsql as $$
declare
  locked text[];
begin
  if lock_mode = 'skip' then
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update skip locked);
  else
    locked := array(select account_id from balances where account_id = any (account_ids)
      order by account_id for no key update);
  end if;
  if cardinality(locked) = cardinality(account_ids) then return '{}'; end if;
  return array(select account_id from balances
    where account_id = any (account_ids) and account_id <> all (locked));
end $$;
comment on function ledger_lock is
  'Locks accounts in the order of their ids, which excludes deadlocks, and returns those that it did not get. Lock mode '
  '"skip" leaves out accounts that another transaction has locked; "wait" waits for the connection''s lock_timeout.';

create function ledger_lapse(moment timestamptz, account_ids text[]) returns void language plpgsql as $$
declare
  expiring text[] := array(
    select distinct account_id from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at));
begin
  if expiring = '{}' then return; end if;
  -- What was reserved of them before this moment stays reserved.
  delete from purses where account_id = any (expiring);
  perform ledger_post(expiring);

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
comment on function ledger_lapse is
  'Takes the remainders of expired grants out of the balance, after recalling the purses that may spend them. Runs '
  'after credits came in or back and before any are taken: an expired grant never pays, and a refund into one lapses '
  'at once.';

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
comment on function ledger_cover is
  'Pays debt from spendable grants in spending order: an account never has debt and spendable credits at once.';

create function ledger_lapse_and_cover(moment timestamptz, account_ids text[]) returns void language plpgsql as $$
begin
  if exists (select from balances b join grants g using (account_id)
    where account_id = any (account_ids) and g.spendable and g.expires_at <= greatest(moment, b.updated_at)) then
    perform ledger_lapse(moment, account_ids);
  end if;
  if exists (select from balances where account_id = any (account_ids) and debt > 0) then
    perform ledger_cover(moment, account_ids);
  end if;
end $$;
comment on function ledger_lapse_and_cover is
  'Lapses and covers what is due, whenever an account was changed. Both are rare, and the checks cost less than running '
  'them.';

create function ledger_grant(
  moment timestamptz, new_id text, new_account_id text, new_amount bigint, new_source text, new_reference text,
  new_expires_at timestamptz
) returns text language plpgsql as $$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  -- What was reserved before is paid from what was granted before.
  perform ledger_post(array[new_account_id]);
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
comment on function ledger_grant is
  'Grants credits. Returns "granted", "unknown" (no such account) or "duplicate" (reference used before).';

create function ledger_revoke(moment timestamptz, new_id text, new_account_id text, revoked bigint, new_source text,
  new_reference text) returns text language plpgsql as $$
begin
  perform ledger_lock(array[new_account_id], 'wait');
  if not exists (select from balances where account_id = new_account_id) then return 'unknown'; end if;

  -- Before the balance is checked: a repeat is answered as a duplicate, not with a balance that lacks the credits.
  insert into grants (id, account_id, amount, source, reference, created_at)
    values (new_id, new_account_id, -revoked, new_source, new_reference, moment)
    on conflict (reference) do nothing;
  if not found then return 'duplicate'; end if;

  -- Purses first: once they are deleted, no line can be written that is not posted here.
  delete from purses where account_id = new_account_id;
  perform ledger_post(array[new_account_id]);
  perform ledger_lapse_and_cover(moment, array[new_account_id]);
  if (select available from balances where account_id = new_account_id) < revoked then return 'short'; end if;

  insert into ledger_entries
    (account_id, number, type, granted, available, reserved, charged, lapsed, balance, created_at, grant_ids, parts)
  select account_id, entries + 1, 'revoke', -revoked, -revoked, 0, 0, 0, available - revoked, greatest(moment, updated_at),
    new_id || split.grant_ids, 0::bigint || split.parts
  from balances cross join (
    select array_agg(grant_id order by place) as grant_ids,
      array_agg(-least(remaining, revoked - before) order by place) as parts
    from (
      select id as grant_id, remaining, row_number() over spending as place,
        (sum(remaining) over spending - remaining)::bigint as before
      from grants where account_id = new_account_id and spendable
      window spending as (order by expires_at, number)
    ) as payer
    where before < revoked
  ) as split
  where account_id = new_account_id;
  return 'revoked';
end $$;
comment on function ledger_revoke is
  'Takes unspent credits back from the grants in spending order. Returns "revoked", "unknown", "duplicate" or '
  '"short"; after "short" the transaction must be rolled back. The first grant of the entry is the new row itself, '
  'with a part of 0, to name the revocation that it belongs to.';

create function ledger_correct_grant(moment timestamptz, grant_id text, new_source text, new_reference text,
  sets_expiry boolean, new_expires_at timestamptz) returns text language plpgsql as $$
declare
  owner_id text := (select account_id from grants where id = grant_id);
begin
  if owner_id is null then return 'unknown'; end if;
  perform ledger_lock(array[owner_id], 'wait');
  -- What was reserved before is paid from the grants as they were before.
  delete from purses where account_id = owner_id and sets_expiry;
  perform ledger_post(array[owner_id]);
  perform ledger_lapse_and_cover(moment, array[owner_id]);
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
comment on function ledger_correct_grant is
  'Changes what a grant says about itself; its credits are changed by entries alone. Null leaves source or reference '
  'as it is. Returns "changed", "unknown", "over" (lapsed, or a revocation) or "duplicate".';

create function ledger_lapse_some(moment timestamptz, accounts_max integer) returns integer language plpgsql as $$
declare
  accounts text[] := array(
    select distinct account_id from grants where spendable and expires_at <= moment limit accounts_max);
  busy text[] := ledger_lock(accounts, 'skip');
begin
  perform ledger_lapse(moment, array(select unnest(accounts) except select unnest(busy)));
  return cardinality(accounts) - cardinality(busy);
end $$;
comment on function ledger_lapse_some is
  'Lapses expired grants of accounts without traffic, in batches. Returns how many accounts it processed; those that '
  'another transaction has locked are left out.';

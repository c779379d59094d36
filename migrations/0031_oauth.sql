-- Apps act for people: what a person let an app do with an account, and the authorization server's own records.

alter table oauth_clients
  add column home_page text,
  add column logo text,
  -- Every client has the code flow; these are given one by one.
  add column device_flow boolean not null default false,
  add column introspection boolean not null default false,
  -- A client that was removed stays, for the records that name it.
  add column deleted_at timestamptz;

-- What a person lets an app do with an account. There is one that is not revoked per app, account and person, so its limit
-- bounds the app on all the person's devices.
create table oauth_grants (
  id text primary key,
  client_id text not null references oauth_clients,
  account_id text not null references accounts,
  person_id text not null references people,
  scopes text[] not null check (cardinality(scopes) > 0),
  -- As on a key: what the app may spend, in all or per period.
  credit_limit bigint check (credit_limit >= 0),
  credit_limit_reset text check (credit_limit_reset in ('day', 'week', 'month')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create unique index oauth_grants_live on oauth_grants (client_id, account_id, person_id) where revoked_at is null;
create index oauth_grants_of_account on oauth_grants (account_id, created_at desc, id desc);
create index oauth_grants_of_person on oauth_grants (person_id);

-- Codes, tokens and everything else that the authorization server keeps. Of each secret there is the digest and nothing
-- else; the payload does not repeat it.
create table oauth_records (
  -- The server's name for it: AuthorizationCode, AccessToken, RefreshToken, DeviceCode, Interaction, Session.
  kind text not null,
  -- SHA-256 of the code, token or id by which it is asked for.
  digest bytea not null,
  payload json not null,
  grant_id text references oauth_grants,
  uid_digest bytea,
  user_code_digest bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- A code or refresh token that has been used.
  consumed_at timestamptz,
  primary key (kind, digest)
);
create index oauth_records_of_grant on oauth_records (grant_id) where grant_id is not null;
create unique index oauth_records_uid on oauth_records (kind, uid_digest) where uid_digest is not null;
create unique index oauth_records_user_code on oauth_records (kind, user_code_digest) where user_code_digest is not null;
create index oauth_records_expired on oauth_records (expires_at);

-- What an app spends is counted and bounded where a key's spending is. From here on the key of a reservation is an API
-- key, a grant to an app, or null for the console.
alter table key_spending drop constraint key_spending_key_id_fkey;
create trigger oauth_grants_open_spending after insert on oauth_grants for each row execute function ledger_open_key();

-- As in 0017, but for what may be spent: the key's limit, or the grant's.
create or replace function ledger_reserve(
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

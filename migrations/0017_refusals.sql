-- A refusal of the ledger says what is left, so that a caller can be told what is needed and what is available, as they
-- were when it was decided.

-- As in 0008, but for its refusals: {"reason": "balance", "left": micro-credits} where the balance does not cover the
-- amount, the same with "key_limit" where what the key may still spend does not.
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
      earlier.id is not null as repeated, earlier.account_id = m.account_id and (m.late or earlier.amount = m.amount) as same,
      earlier.grant_ids, earlier.parts
    from unnest(ids, account_ids, key_ids, amounts, request_ids, job_ids, models, endpoints, prices, late) with ordinality
      as m (id, account_id, key_id, amount, request_id, job_id, model, endpoint, price, late, member)
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

-- Output items of the responses format, which a later request may name by their ids in place of repeating them.

create table response_items (
  id text primary key,
  account_id text not null,
  item text not null,
  expires_at timestamptz not null
);
comment on table response_items is
  'Written by group commit before the end of the answer that they are of, for a day, unless the caller asked not to. No '
  'foreign key: a batch must not fail for one row.';
comment on column response_items.id is 'As in the answer; it begins with the time, so that new rows lie side by side.';
comment on column response_items.item is 'The item as it was sent, as JSON.';

create index response_items_by_expiry on response_items (expires_at);

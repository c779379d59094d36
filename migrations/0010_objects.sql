-- Stored media: bytes in the object store, and the files that callers upload for later requests.

create table stored_objects (
  key text primary key,
  account_id text not null,
  mime_type text not null,
  bytes bigint not null,
  delete_at timestamptz not null
);
comment on table stored_objects is
  'Every object that must be deleted one day. The row is written before the bytes, with an early delete_at: an object '
  'whose owner is never committed is deleted by the clean-up.';
comment on column stored_objects.key is 'Key in the object store.';
comment on column stored_objects.bytes is 'Zero while the object is being written.';

create index stored_objects_due on stored_objects (delete_at);

create table files (
  id text primary key,
  account_id text not null references accounts,
  object_key text not null unique,
  filename text not null,
  purpose text,
  mime_type text not null,
  bytes bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
comment on table files is 'Media that callers uploaded for later requests.';
comment on column files.purpose is 'The caller''s own word for what it is for.';

create index files_live on files (account_id, expires_at);

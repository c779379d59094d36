-- Rights that come from groups at an organisation's identity provider, told apart from those given by hand, and sign-ins
-- there that have been finished.

alter table people
  -- The deployment's role came from a group, and goes with it.
  add column operator_role_mapped boolean not null default false,
  -- The account whose routing groups follow the person's groups: the one that had the person's email when the identity
  -- was first used, or the one that was made then.
  add column own_account_id text references accounts;

alter table memberships add column mapped boolean not null default false;

-- Digests of the states of finished sign-ins, until they would have expired anyway: each can be finished once.
create table finished_sign_ins (
  digest bytea primary key,
  expires_at timestamptz not null
);
create index finished_sign_ins_expired on finished_sign_ins (expires_at);

-- Who signs in, to which accounts they belong, and what lets them in.

create table people (
  id text primary key,
  email text not null,
  name text not null,
  -- argon2id in its encoded form; null: no password has been set.
  verifier text,
  -- A role on the deployment, beside any membership.
  operator_role text check (operator_role in ('operator', 'auditor')),
  -- The identity at an organisation's own identity provider, once it was used to sign in.
  issuer text,
  subject text,
  disabled boolean not null default false,
  created_at timestamptz not null,
  last_sign_in_at timestamptz,
  check ((issuer is null) = (subject is null))
);
create unique index people_email on people (lower(email));
create unique index people_subject on people (issuer, subject);
create index people_newest on people (created_at desc, id desc);

create table memberships (
  person_id text not null references people on delete cascade,
  account_id text not null references accounts,
  role text not null check (role in ('owner', 'member', 'viewer')),
  created_at timestamptz not null,
  primary key (person_id, account_id)
);
create index memberships_of_account on memberships (account_id, created_at);

create table sessions (
  id text primary key,
  -- SHA-256 of the cookie's value, which is all that is kept of it.
  digest bytea not null,
  person_id text not null references people on delete cascade,
  -- The account that the console shows; null when the person belongs to none.
  account_id text references accounts,
  method text not null check (method in ('password', 'link', 'identity_provider')),
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index sessions_digest on sessions (digest);
create index sessions_of_person on sessions (person_id, created_at desc, id desc);
create index sessions_expired on sessions (expires_at);

-- Links that work once: to sign in, to set a password, to accept an invitation.
create table one_time_links (
  id text primary key,
  digest bytea not null,
  purpose text not null check (purpose in ('sign_in', 'set_password', 'invitation')),
  -- Of whom; null for an invitation, whose email need not belong to a person yet.
  person_id text references people on delete cascade,
  email text not null,
  -- What an invitation gives.
  account_id text references accounts,
  role text check (role in ('owner', 'member', 'viewer')),
  operator_role text check (operator_role in ('operator', 'auditor')),
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  check ((purpose = 'invitation') = (person_id is null)),
  check ((account_id is null) = (role is null))
);
create unique index one_time_links_digest on one_time_links (digest);
create index one_time_links_of_account on one_time_links (account_id, created_at desc, id desc);
create index one_time_links_expired on one_time_links (expires_at);

-- An account's email and password were those of its owner.
insert into people (id, email, name, verifier, created_at)
select 'person_' || substr(id, 6), email, name, password_hash, created_at from accounts where email is not null;
insert into memberships (person_id, account_id, role, created_at)
select 'person_' || substr(id, 6), id, 'owner', created_at from accounts where email is not null;
alter table accounts drop column password_hash;

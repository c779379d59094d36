-- People, who sign in: their memberships of accounts, their sessions, and the links that work once.

create table people (
  id text primary key,
  email text not null,
  name text not null,
  verifier text,
  operator_role text check (operator_role in ('operator', 'auditor')),
  operator_role_mapped boolean not null default false,
  issuer text,
  subject text,
  own_account_id text references accounts,
  disabled boolean not null default false,
  created_at timestamptz not null,
  last_sign_in_at timestamptz,
  constraint people_issuer_and_subject check ((issuer is null) = (subject is null))
);
comment on table people is 'Persons who can sign in.';
comment on column people.verifier is
  'argon2id hash of the password in its encoded form; null where no password is set.';
comment on column people.operator_role is 'Role on the whole deployment, beside any membership; null for none.';
comment on column people.operator_role_mapped is
  'The role comes from a group at the identity provider, and is removed when the group is.';
comment on column people.issuer is 'Identity provider of the organisation, set at the first sign-in there.';
comment on column people.subject is 'The person''s id at the issuer.';
comment on column people.own_account_id is
  'Account whose routing groups follow the person''s groups at the identity provider: the one that had the person''s '
  'email at the first sign-in there, or the one that was created then.';

create unique index people_email on people (lower(email));
create unique index people_subject on people (issuer, subject);
create index people_newest on people (created_at desc, id desc);

create table memberships (
  person_id text not null references people on delete cascade,
  account_id text not null references accounts,
  role text not null check (role in ('owner', 'member', 'viewer')),
  mapped boolean not null default false,
  created_at timestamptz not null,
  primary key (person_id, account_id)
);
comment on table memberships is 'Roles of people in accounts.';
comment on column memberships.mapped is
  'The role comes from a group at the identity provider, and is removed when the group is.';

create index memberships_of_account on memberships (account_id, created_at);

create table sessions (
  id text primary key,
  digest bytea not null,
  person_id text not null references people on delete cascade,
  account_id text references accounts,
  method text not null check (method in ('password', 'link', 'identity_provider')),
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
comment on table sessions is 'Signed-in browsers.';
comment on column sessions.digest is 'SHA-256 of the cookie''s value.';
comment on column sessions.account_id is 'Account that the console shows; null for a person without a membership.';
comment on column sessions.method is 'How the person signed in.';
comment on column sessions.address is 'IP address at sign-in, shown to the person.';

create unique index sessions_digest on sessions (digest);
create index sessions_of_person on sessions (person_id, created_at desc, id desc);
create index sessions_expired on sessions (expires_at);

create table one_time_links (
  id text primary key,
  digest bytea not null,
  purpose text not null check (purpose in ('sign_in', 'set_password', 'invitation', 'sign_up')),
  person_id text references people on delete cascade,
  email text not null,
  account_id text references accounts,
  role text check (role in ('owner', 'member', 'viewer')),
  operator_role text check (operator_role in ('operator', 'auditor')),
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint one_time_links_person check ((purpose in ('invitation', 'sign_up')) = (person_id is null)),
  constraint one_time_links_account_and_role check ((account_id is null) = (role is null))
);
comment on table one_time_links is
  'Mailed links that work once: to sign in, to set a password, to accept an invitation, to confirm a sign-up.';
comment on column one_time_links.digest is 'SHA-256 of the link''s secret.';
comment on column one_time_links.person_id is
  'Null for an invitation and a sign-up, whose email need not belong to a person yet.';
comment on column one_time_links.account_id is 'Account that an invitation is to.';
comment on column one_time_links.role is 'Role in the account that an invitation gives.';
comment on column one_time_links.operator_role is 'Role on the deployment that an invitation gives.';
comment on column one_time_links.created_by is 'Actor, as in the audit record.';

create unique index one_time_links_digest on one_time_links (digest);
create index one_time_links_of_account on one_time_links (account_id, created_at desc, id desc);
create index one_time_links_of_email on one_time_links (lower(email), created_at desc);
comment on index one_time_links_of_email is 'When a link was last mailed to an address.';
create index one_time_links_expired on one_time_links (expires_at);

create table finished_sign_ins (
  digest bytea primary key,
  expires_at timestamptz not null
);
comment on table finished_sign_ins is
  'States of completed sign-ins at the identity provider: a state is accepted once, so a callback cannot be replayed.';
comment on column finished_sign_ins.digest is 'SHA-256 of the state.';
comment on column finished_sign_ins.expires_at is
  'From then on the state is refused by its own age, and the row is deleted.';

create index finished_sign_ins_expired on finished_sign_ins (expires_at);

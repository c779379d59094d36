-- The books are checked by the clock: one process of the deployment does it, under a lease.

alter table ledger_checks add column owner text;
alter table ledger_checks add column lease_until timestamptz;
comment on column ledger_checks.owner is 'Process that checks the books now, by the clock.';

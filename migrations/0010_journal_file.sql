-- An earlier text of 0009 did not say so.
alter table ledger_journal set (vacuum_truncate = false);

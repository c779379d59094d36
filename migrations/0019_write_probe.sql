-- Room for writes is proved by writing: a few pages into a new file of this table, which go when the transaction is rolled
-- back. Without a log and without anything in it, it costs next to nothing.
create unlogged table write_probe (filler text storage plain not null);

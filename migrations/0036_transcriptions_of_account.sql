-- The transcriptions of one account, newest first.
create index transcriptions_newest on transcriptions (account_id, created_at desc, id desc);

-- A video that its account deleted is listed no more, also where it failed and so has no results to forget.

alter table jobs add column deleted_at timestamptz;
comment on column jobs.deleted_at is 'When its account deleted the video that it was to make; the job and its money stay.';

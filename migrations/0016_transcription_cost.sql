-- What a transcription cost the operator stands with it, as with a job: its caller may leave, or another process end it.

alter table transcriptions add column cost bigint check (cost >= 0);
comment on column transcriptions.cost is
  'Micro-credits that a completed transcription cost the operator; null where its route states no cost.';

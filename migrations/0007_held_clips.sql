-- A small clip is held in the memory of the process that transcribes it, and never stored.

alter table transcriptions alter column object_key drop not null;

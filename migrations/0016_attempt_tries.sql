-- How often in a row what a call brought could not be used, whichever process asked.
alter table job_attempts add column if not exists tries smallint not null default 0;
